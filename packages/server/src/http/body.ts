import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import * as Headers from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { MAX_WIRE_BYTES, ValidationError } from "@harness/protocol"
import { Data, Effect } from "effect"

/** What is read past the limit to keep the connection; a longer body ends it. */
const DRAIN_MAX_BYTES = 16 * MAX_WIRE_BYTES
/** Deeper bodies would overflow the stack of whatever walks them. */
const DEPTH_MAX = 128

const malformed = (message: string) => new ValidationError({ code: "request.malformed", message })
const tooLarge = new ValidationError({
  code: "request.too_large",
  message: `a request body is at most ${MAX_WIRE_BYTES} bytes`
})
const contentType = (message: string) => new ValidationError({ code: "request.content_type", message })

/** The body could not be read to its end, so what follows on this connection cannot be told from it. */
export class ConnectionSpent extends Data.TaggedError("ConnectionSpent")<{ readonly error: ValidationError }> {}

/** Reads a body up to the limit, and drains the rest: the next request on the connection is not harmed. */
const readBytes = (source: IncomingMessage): Effect.Effect<Buffer, ValidationError | ConnectionSpent> =>
  Effect.async((resume) => {
    const declared = Number(source.headers["content-length"] ?? 0)
    if (declared > DRAIN_MAX_BYTES) return resume(Effect.fail(new ConnectionSpent({ error: tooLarge })))
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_WIRE_BYTES) chunks.push(chunk)
      else if (size > DRAIN_MAX_BYTES) end(Effect.fail(new ConnectionSpent({ error: tooLarge })))
      else chunks.length = 0
    }
    const onEnd = () => {
      const [first] = chunks
      if (size > MAX_WIRE_BYTES) end(Effect.fail(tooLarge))
      else end(Effect.succeed(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size)))
    }
    const onCut = () => end(Effect.fail(new ConnectionSpent({ error: malformed("the body ended too early") })))
    const leave = () => {
      source.off("data", onData)
      source.off("end", onEnd)
      source.off("error", onCut)
      source.off("close", onCut)
    }
    const end = (result: Effect.Effect<Buffer, ValidationError | ConnectionSpent>) => {
      leave()
      resume(result)
    }
    source.on("data", onData)
    source.on("end", onEnd)
    source.on("error", onCut)
    source.on("close", onCut)
    return Effect.sync(leave)
  })

const QUOTE = 0x22
const BACKSLASH = 0x5c

const isEscaped = (bytes: Buffer, at: number) => {
  let slashes = 0
  while (bytes[at - 1 - slashes] === BACKSLASH) slashes++
  return slashes % 2 === 1
}

/** Whether JSON text nests deeper than is good; skips from quote to quote, so that long strings cost nothing. */
const isTooDeep = (bytes: Buffer): boolean => {
  if (bytes.length <= DEPTH_MAX) return false
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = bytes.indexOf(QUOTE, at + 1)
      while (at !== -1 && isEscaped(bytes, at)) at = bytes.indexOf(QUOTE, at + 1)
      if (at === -1) return false
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > DEPTH_MAX) return true
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return false
}

const loneSurrogates = /\p{Surrogate}/gu

/** A JSON value whose every text is well-formed: a lone surrogate becomes U+FFFD. */
export const wellFormed = (value: unknown): unknown => {
  if (typeof value === "string") return value.replace(loneSurrogates, "\uFFFD")
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.replace(loneSurrogates, "\uFFFD"), wellFormed(inner)])
  )
}

// Bytes that are UTF-8 hold no surrogates; only an escape can bring one in.
const mayHoldSurrogates = (text: string) => text.includes("\\ud") || text.includes("\\uD")

const parse = (bytes: Buffer): Effect.Effect<{ readonly text: string; readonly json: unknown }, ValidationError> => {
  if (!isUtf8(bytes)) return Effect.fail(malformed("the body is not UTF-8"))
  if (isTooDeep(bytes)) return Effect.fail(malformed(`the body is nested deeper than ${DEPTH_MAX} levels`))
  const whole = bytes.toString("utf8")
  const text = whole.startsWith("\uFEFF") ? whole.slice(1) : whole
  return Effect.try({
    try: () => {
      const json: unknown = JSON.parse(text)
      return { text, json: mayHoldSurrogates(text) ? wellFormed(json) : json }
    },
    catch: () => malformed("the body is not JSON")
  })
}

const json = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

const refusedType = (headers: Headers.Headers): ValidationError | undefined => {
  const type = headers["content-type"]
  if (type === undefined || (type !== "application/json" && !json.test(type))) {
    return contentType("a body needs content-type: application/json, in UTF-8")
  }
  const encoding = headers["content-encoding"]
  return encoding === undefined || encoding === "identity" ? undefined : contentType("a body must not be compressed")
}

const absent = { text: "", json: null }

/**
 * The request with its body read, checked and parsed once: handlers find it in `json`, `text` and `arrayBuffer`.
 * An empty body is none, and needs no content type; its `json` is null.
 */
export const withBody = (
  request: HttpServerRequest.HttpServerRequest,
  takesBody: boolean
): Effect.Effect<HttpServerRequest.HttpServerRequest, ValidationError | ConnectionSpent> => {
  if (isUpgrade(request.headers)) return Effect.fail(new ConnectionSpent({ error: upgraded }))
  return Effect.flatMap(readBytes(NodeHttpServerRequest.toIncomingMessage(request)), (bytes) => {
    const refused = bytes.length === 0 ? undefined : refusedType(request.headers)
    if (refused !== undefined) return Effect.fail(refused)
    return Effect.flatMap(bytes.length === 0 ? Effect.succeed(absent) : parse(bytes), (body) => {
      if (!takesBody && !isEmpty(body.json)) return Effect.fail(noBodyHere)
      const read: HttpServerRequest.HttpServerRequest = Object.create(request, {
        json: { value: Effect.succeed(body.json) },
        text: { value: Effect.succeed(body.text) },
        arrayBuffer: { value: Effect.sync(() => Uint8Array.from(bytes).buffer) },
        // Without a body its type says nothing, and must not choose how the handler reads it.
        ...(bytes.length === 0 && { headers: { value: Headers.remove(request.headers, "content-type") } })
      })
      return Effect.succeed(read)
    })
  })
}

/** Node leaves the bytes after such a head to the other protocol: read as a body, they would be none, unnoticed. */
const isUpgrade = (headers: Headers.Headers) =>
  headers["upgrade"] !== undefined && headers["connection"]?.toLowerCase().includes("upgrade") === true
const upgraded = malformed("a request with a body cannot ask for another protocol: leave Upgrade out")

const isEmpty = (value: unknown) => value === null || (typeof value === "object" && Object.keys(value).length === 0)

const noBodyHere = new ValidationError({
  code: "request.invalid",
  message: "this route takes no body",
  details: { issues: [{ path: "", reason: "must be left out" }] }
})
