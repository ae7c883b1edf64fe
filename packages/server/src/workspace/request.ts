import { request as httpRequest, type IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Readable } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { Duration, Effect } from "effect"
import { guardedLookup, privateAddress, RefusedAddress, readUrl, WebError } from "./addresses.ts"
import type { WebAccess } from "./WebAccess.ts"

/** What to ask, and how much to take. */
export interface WebRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** From the first look at the name to the last byte. */
  readonly timeoutMillis: number
  /** Bytes of the body that are taken, unpacked. */
  readonly maxBytes: number
}

/** What was answered, whatever its status. */
export interface WebResponse {
  readonly url: string
  readonly status: number
  /** By their names in lower case; of one sent twice, all of it. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** There was more than `maxBytes`. */
  readonly truncated: boolean
}

const unreachable = new WebError({ code: "url.unreachable", message: "The server could not be reached." })
const broken = new WebError({ code: "url.broken", message: "The server's answer broke off or could not be read." })
const late = new WebError({ code: "url.timeout", message: "The server did not answer in time." })

const headersOf = (response: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]
    )
  )

// A body that is empty, or lacks its end mark, is taken as it came; a connection that is lost is seen elsewhere.
const PATIENT = { finishFlush: constants.Z_SYNC_FLUSH }

const unpacked = (response: IncomingMessage): Readable => {
  switch (response.headers["content-encoding"]?.toLowerCase().trim()) {
    case "gzip":
    case "x-gzip":
      return response.pipe(createGunzip(PATIENT))
    case "deflate":
      return response.pipe(createInflate(PATIENT))
    case "br":
      return response.pipe(createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }))
    default:
      return response
  }
}

type Body = Pick<WebResponse, "body" | "truncated">

const readBody = (response: IncomingMessage, maxBytes: number, done: (body: Body | undefined) => void): void => {
  const stream = unpacked(response)
  const chunks: Array<Uint8Array> = []
  let length = 0
  const end = (truncated: boolean) => done({ body: Buffer.concat(chunks).subarray(0, maxBytes), truncated })
  const fail = () => done(undefined)
  stream.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk)
    length += chunk.length
    if (length <= maxBytes) return
    end(true)
    stream.destroy()
    response.destroy()
  })
  stream.on("end", () => end(false))
  stream.on("error", fail)
  // A connection that is lost ends a packed body without a word of its own.
  response.on("error", fail)
  response.on("aborted", fail)
}

const HEADERS = { "user-agent": "Harness", "accept-encoding": "gzip, deflate, br" }

const send = (access: typeof WebAccess.Service, url: URL, { body, headers, method }: WebRequest) => {
  const ask = url.protocol === "https:" ? httpsRequest : httpRequest
  const request = ask(url, {
    method: method ?? "GET",
    headers: { ...HEADERS, ...headers },
    // A connection of its own, to the address that was looked at.
    agent: false,
    lookup: guardedLookup(access.lookup, access.allowPrivateUrls)
  })
  // Whoever has left does not hear of it.
  request.on("error", () => {})
  return { request, body }
}

/**
 * Asks a server on the internet: http or https, the address looked at and held to, time and size bounded. A redirect is
 * an answer like others: it is not followed.
 */
export const makeRequest =
  (access: typeof WebAccess.Service) =>
  (target: string | URL, wanted: WebRequest): Effect.Effect<WebResponse, WebError> =>
    Effect.gen(function* () {
      const url = yield* readUrl(String(target), access.allowPrivateUrls)
      return yield* Effect.acquireUseRelease(
        Effect.try({
          try: () => send(access, url, wanted),
          catch: () => new WebError({ code: "url.invalid", message: "The request cannot be sent like this." })
        }),
        ({ body, request }) =>
          Effect.async<WebResponse, WebError>((resume) => {
            request.on("error", (error) =>
              resume(Effect.fail(error instanceof RefusedAddress ? privateAddress : unreachable))
            )
            request.on("response", (response) =>
              readBody(response, wanted.maxBytes, (body) => {
                const { statusCode: status = 0 } = response
                const answer = { url: url.href, status, headers: headersOf(response) }
                resume(body === undefined ? Effect.fail(broken) : Effect.succeed({ ...answer, ...body }))
              })
            )
            request.end(body)
          }),
        ({ request }) => Effect.sync(() => request.destroy())
      )
    }).pipe(
      Effect.timeoutFail({ duration: Duration.millis(wanted.timeoutMillis), onTimeout: () => late }),
      Effect.withSpan("workspace.request")
    )
