import type { ExternalTool, JsonObject } from "@harness/protocol"
import type { Voice } from "./voiceOf.ts"

/** What a model may do with the call itself. */
export type ControlName = "hangup" | "transfer" | "record" | "set_barge_in" | "set_language"

const described = (type: "string" | "boolean", description: string) => ({ type, description })

const object = (properties: JsonObject, required: ReadonlyArray<string> = []): JsonObject => ({
  type: "object",
  properties,
  required: [...required],
  additionalProperties: false
})

const descriptions: Readonly<Record<ControlName, string>> = {
  hangup: "Ends this call. Say goodbye first, in the same answer; nothing can be said after it.",
  transfer: "Hands this call on to somebody else. What you say in the same answer is spoken first.",
  record: "Starts, stops, pauses or resumes the recording of this call.",
  set_barge_in: "Says whether the caller may interrupt you, from your next answer on.",
  set_language: "Changes the language the caller is listened to in."
}

const destinations = ({ transfer }: Voice): JsonObject =>
  transfer.length === 0
    ? {}
    : { to: { type: "string", enum: [...transfer], description: "Where to; left out, to the usual place." } }

const schemas = (voice: Voice): Readonly<Record<ControlName, JsonObject>> => ({
  hangup: object({ reason: described("string", "Why, in a few words, for the records.") }),
  transfer: object({
    ...destinations(voice),
    trunk: described("string", "The trunk to go out by."),
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "SIP headers for whoever takes the call."
    },
    announce: described("string", "Said to the caller before the transfer. Do not say it yourself as well.")
  }),
  record: object(
    {
      action: { type: "string", enum: ["start", "stop", "pause", "resume"] },
      type: { type: "string", enum: ["cloud", "siprec"] }
    },
    ["action"]
  ),
  set_barge_in: object({ enabled: described("boolean", "Whether the caller may interrupt.") }, ["enabled"]),
  set_language: object({ language: described("string", "A language tag such as en-US or de-DE.") }, ["language"])
})

export const isControl = (name: string): name is ControlName => Object.hasOwn(descriptions, name)

/** Whether a session's tool of that name is the one that controls the call, and not another's of the same name. */
export const isOurs = (tools: ReadonlyArray<ExternalTool>, name: ControlName): boolean =>
  tools.findLast((tool) => tool.name === name)?.description === descriptions[name]

/** The tools every call has. They stand before its application's, which give way to their names. */
export const controlTools = (voice: Voice): ReadonlyArray<ExternalTool> =>
  Object.entries(schemas(voice)).flatMap(([name, inputSchema]) =>
    isControl(name) ? [{ name, description: descriptions[name], inputSchema }] : []
  )
