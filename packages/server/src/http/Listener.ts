import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import {
  type EndpointErrors,
  REQUEST_ID_HEADER,
  SERVER_VERSION_HEADER,
  statusOf,
  UnavailableError,
  ValidationError
} from "@harness/protocol"
import { Clock, Context, Effect, Layer } from "effect"
import { errorBody, errorHeaders } from "./errors.ts"
import { requestIds } from "./requestId.ts"
import { ServerInfo } from "./ServerInfo.ts"

/** Browsers and clients keep connections for reuse; closing them first would cut a request under way. */
const KEEP_ALIVE_MILLIS = 65_000

const malformed = new ValidationError({ code: "request.malformed", message: "this is not a well-formed HTTP request" })
const headersTooLarge = new ValidationError({
  code: "request.headers_too_large",
  message: "the headers are longer than this server reads"
})
const tooSlow = new ValidationError({
  code: "request.timeout",
  message: "the request did not arrive in time",
  retryable: true
})
const expectation = new ValidationError({
  code: "request.malformed",
  message: "this server meets no other expectation than 100-continue"
})
const notServing = new UnavailableError({
  code: "shutting_down",
  message: "this server is starting or shutting down",
  retryable: true
})

const refusalOf = (code: unknown): readonly [number, ValidationError] => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [statusOf(headersTooLarge), headersTooLarge]
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, tooSlow]
    default:
      return [statusOf(malformed), malformed]
  }
}

/** The answer a socket is busy with; node keeps it there, and has no other way to ask. */
const answerOn = (socket: Duplex): object | undefined => {
  const message: unknown = Reflect.get(socket, "_httpMessage")
  return typeof message === "object" && message !== null ? message : undefined
}

/** A socket whose answer has begun takes no second one: its bytes would end up inside the first. */
const hasBegun = (answer: object | undefined): boolean =>
  answer !== undefined && "headersSent" in answer && answer.headersSent === true

/**
 * The node server under the HTTP API, and every socket it has. It answers itself, in the same form, what no request
 * comes of: broken HTTP, headers too long, and what arrives while no app is attached.
 */
export class Listener extends Context.Tag("@harness/server/Listener")<
  Listener,
  {
    readonly server: Server
    /** What a client sent behind the head of its upgrade request. */
    readonly headOf: (request: IncomingMessage) => Buffer
    /** Connections, whatever they are used for. */
    readonly open: () => number
    /** Closes those that wait for a request, also for their first one. */
    readonly closeIdle: () => void
    readonly closeAll: () => void
  }
>() {
  static readonly layer = Layer.effect(
    Listener,
    Effect.gen(function* () {
      const info = yield* ServerInfo
      const clock = yield* Clock.clockWith(Effect.succeed)
      const mint = requestIds()

      const answer = (error: EndpointErrors) => {
        const requestId = mint(clock.unsafeCurrentTimeMillis())
        const body = JSON.stringify(errorBody(error, requestId))
        const headers: Record<string, string> = {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body)),
          connection: "close",
          [SERVER_VERSION_HEADER]: info.version,
          [REQUEST_ID_HEADER]: requestId,
          "access-control-expose-headers": `Ze-Harness-Version, ${REQUEST_ID_HEADER}`,
          ...errorHeaders(error)
        }
        return { headers, body }
      }
      const respond = (response: ServerResponse, error: EndpointErrors, status = statusOf(error)) => {
        const { headers, body } = answer(error)
        response.writeHead(status, headers).end(body)
      }

      const server = createServer({ requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE_MILLIS })
      const sockets = new Set<Socket>()
      const upgraded = new WeakSet<Duplex>()
      const heads = new WeakMap<IncomingMessage, Buffer>()
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
      })
      // A socket reset while an upgrade is decided has no other listener, and would end the process.
      server.on("upgrade", (request, socket, head) => {
        upgraded.add(socket)
        heads.set(request, head)
        socket.on("error", () => {})
      })
      server.on("checkExpectation", (_, response) => respond(response, expectation, 417))
      server.on("request", (_, response) => {
        if (server.listenerCount("request") === 1) respond(response, notServing)
      })
      server.on("clientError", (error, socket) => {
        if (!socket.writable || hasBegun(answerOn(socket))) {
          socket.destroy()
          return
        }
        const [status, refusal] = refusalOf("code" in error ? error.code : undefined)
        const { headers, body } = answer(refusal)
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`)
      })
      return {
        server,
        headOf: (request) => heads.get(request) ?? Buffer.alloc(0),
        open: () => sockets.size,
        closeIdle: () => {
          for (const socket of sockets) {
            if (!upgraded.has(socket) && answerOn(socket) === undefined) socket.destroySoon()
          }
        },
        closeAll: () => {
          for (const socket of sockets) socket.destroy()
        }
      }
    })
  )
}
