import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { CallResult } from "@harness/protocol"
import { Effect } from "effect"
import type { ToolContext } from "./Tool.ts"
import { decode, headBytes, tailBytes, wellFormed, wellFormedJson } from "./text.ts"

/** What a model is shown of one call, in UTF-8 bytes; more is kept whole in a file. */
export const OUTPUT_MAX_BYTES = 32_768
/** Base64 of all images and files of one result; a part that goes beyond it is left out. */
export const ATTACHMENT_MAX_LENGTH = 524_288
const DETAILS_MAX_BYTES = 65_536
const NOTE_BYTES = 512

/** Whose output it is, and the folder that keeps it. */
type Place = Pick<ToolContext, "outputDir" | "callId">

/** The folder that keeps whole outputs of a session, inside its server's. */
export const outputFolder = (serverFolder: string, sessionId: string): string =>
  join(serverFolder, "tool-output", sessionId)

/** Whole outputs of a session go with it. */
export const forgetOutput = (serverFolder: string, sessionId: string): Effect.Effect<void> =>
  Effect.tryPromise(() => rm(outputFolder(serverFolder, sessionId), { recursive: true, force: true })).pipe(
    Effect.catchAll((error) => Effect.logWarning("a deleted session's output is still there", error.error))
  )

/** What the whole output of a call is called, for the model: `read` takes it under this name. */
export const outputName = (callId: string): string => `tool-output/${callId}.txt`

/** Where the whole output of a call is kept. */
export const outputFile = (context: Place): string => join(context.outputDir, `${context.callId}.txt`)

const count = (bytes: number): string => `${bytes.toLocaleString("en-US")} bytes`

/** Front and end of something longer, with a note between them of what is missing and where it is. */
export const cutInTheMiddle = (part: {
  readonly head: Uint8Array
  readonly tail: Uint8Array
  readonly total: number
  /** Where the whole is; none when it could not be kept. */
  readonly name: string | undefined
}): string => {
  const room = Math.floor((OUTPUT_MAX_BYTES - NOTE_BYTES) / 2)
  const [head, tail] = [headBytes(part.head, room), tailBytes(part.tail, room)]
  const missing = count(part.total - head.length - tail.length)
  const where = part.name === undefined ? "they could not be kept" : `the whole output is in ${part.name}`
  // Bytes that are no UTF-8 grow when decoded.
  const front = decode(headBytes(Buffer.from(decode(head)), room))
  const end = decode(tailBytes(Buffer.from(decode(tail)), room))
  return `${front}\n\n[… ${missing} of ${count(part.total)} left out here; ${where} …]\n\n${end}`
}

const keep = (bytes: Uint8Array, context: Place): Effect.Effect<string | undefined> =>
  Effect.tryPromise(() =>
    mkdir(context.outputDir, { recursive: true, mode: 0o700 }).then(() =>
      writeFile(outputFile(context), bytes, { mode: 0o600 })
    )
  ).pipe(
    Effect.as(outputName(context.callId)),
    Effect.catchAll((error) =>
      Effect.logWarning("a tool's whole output could not be kept", error.error).pipe(Effect.as(undefined))
    )
  )

type Content = CallResult["content"]

const limitText = (content: Content, context: Place): Effect.Effect<Content> => {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  const whole = Buffer.from(texts.join("\n"))
  if (whole.length <= OUTPUT_MAX_BYTES) return Effect.succeed(content)
  return Effect.map(keep(whole, context), (name) => [
    { type: "text", text: cutInTheMiddle({ head: whole, tail: whole, total: whole.length, name }) },
    ...content.filter((part) => part.type !== "text")
  ])
}

const limitAttachments = (content: Content): Content => {
  let room = ATTACHMENT_MAX_LENGTH
  return content.map((part) => {
    if (part.type === "text") return part
    room -= part.data.length
    if (room >= 0) return part
    room += part.data.length
    const size = count(Math.floor((part.data.length * 3) / 4))
    return { type: "text", text: `[${part.type} left out: ${part.mime}, ${size}, is more than one result may carry]` }
  })
}

const limitDetails = (details: NonNullable<CallResult["details"]>): NonNullable<CallResult["details"]> => {
  const clean = Object.fromEntries(
    Object.entries(details).map(([key, value]) => [wellFormed(key), wellFormedJson(value)])
  )
  if (Buffer.byteLength(JSON.stringify(clean)) <= DETAILS_MAX_BYTES) return clean
  return { ...("code" in clean ? { code: clean["code"] } : {}), detailsLeftOut: true }
}

/** The same result, well-formed and small enough for a model and for one event; what was cut is kept in a file. */
export const limitResult = (result: CallResult, context: Place): Effect.Effect<CallResult> => {
  const content = result.content.map((part) => (part.type === "text" ? { ...part, text: wellFormed(part.text) } : part))
  return Effect.map(limitText(limitAttachments(content), context), (content) => ({
    content,
    isError: result.isError,
    ...(result.details === undefined ? {} : { details: limitDetails(result.details) })
  }))
}
