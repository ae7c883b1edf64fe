import type { ServerName } from "@harness/protocol"
import { type AgentVerb, agentVerb, type CallSid } from "@harness/protocol/jambonz"
import { lineOf } from "../voice/lines.ts"
import type { Voice } from "../voice/voiceOf.ts"

/** Where jambonz brings a hook of the verb. The call's name goes with it: a tool hook's body may not have it. */
const hookOf = (server: ServerName, hook: "tool" | "event" | "done", callSid: CallSid): string =>
  `/v1/servers/${server}/jambonz/${hook}?call_sid=${callSid}`

/**
 * The verb that a call to our application is answered with: its agent, what the agent's file says of the verb, and our own
 * hooks. They are paths, so that jambonz asks for them where it asked for this: behind a tunnel, or over its socket.
 */
export const appVerb = (of: {
  readonly server: ServerName
  readonly agent: string
  readonly voice: Voice
  readonly callSid: CallSid
}): AgentVerb => {
  const { agent, callSid, server, voice } = of
  const [filler] = voice.filler
  return agentVerb({
    ...(filler === undefined ? {} : { holdingPhrase: lineOf(filler, voice.language) }),
    ...voice.verb,
    metadata: { agent },
    toolHook: hookOf(server, "tool", callSid),
    eventHook: hookOf(server, "event", callSid),
    actionHook: hookOf(server, "done", callSid)
  })
}
