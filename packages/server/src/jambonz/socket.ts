import type { IncomingMessage } from "node:http"
import { APP_SUBPROTOCOL, FRAME_MAX, SUBPROTOCOL } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { WebSocket, WebSocketServer } from "ws"
import type { CallSocket } from "./Calls.ts"

/** What the other side may be behind with in reading, in bytes; one that does not read is cut off. */
const UNREAD_MAX = 4 * FRAME_MAX
/** How often a socket is asked whether it is still there; twice unanswered, it is not. */
export const HEARTBEAT_MILLIS = 15_000

/** What a socket tells its door. */
export interface Ears {
  readonly text: (text: string) => void
  /** A frame that is no text. */
  readonly binary: () => void
  readonly closed: () => void
}

const socketsOf = (subprotocol: string) =>
  new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_MAX,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: () => subprotocol
  })
const sockets = { [SUBPROTOCOL]: socketsOf(SUBPROTOCOL), [APP_SUBPROTOCOL]: socketsOf(APP_SUBPROTOCOL) }

/** Whether a request wants to become a socket of this subprotocol. */
export const asksFor = (subprotocol: string, headers: Record<string, string | undefined>): boolean =>
  headers["upgrade"]?.toLowerCase() === "websocket" &&
  (headers["sec-websocket-protocol"] ?? "").split(",").some((name) => name.trim() === subprotocol)

/** Turns a checked upgrade request into a socket; nothing when it is no WebSocket's. */
export const takeOver = (
  request: IncomingMessage,
  head: Buffer,
  subprotocol: keyof typeof sockets = SUBPROTOCOL
): Effect.Effect<WebSocket | undefined> =>
  Effect.async((resume) => {
    request.socket.once("close", () => resume(Effect.succeed(undefined)))
    sockets[subprotocol].handleUpgrade(request, request.socket, head, (socket) => resume(Effect.succeed(socket)))
  })

/** The socket as a call uses it. Pongs come in the order of pings, so each answers the oldest. */
export const callSocket = (socket: WebSocket, ears: Ears): CallSocket & { readonly beat: () => void } => {
  const asked: Array<() => void> = []
  let unanswered = 0
  socket.on("message", (data, isBinary) => {
    unanswered = 0
    if (isBinary) ears.binary()
    else ears.text(data.toString())
  })
  socket.on("pong", () => {
    unanswered = 0
    asked.shift()?.()
  })
  socket.on("close", () => ears.closed())
  socket.on("error", () => {})
  const ping = (arrived: () => void) => {
    if (socket.readyState !== WebSocket.OPEN) return
    asked.push(arrived)
    socket.ping()
  }
  return {
    send: (frame) => {
      if (socket.readyState !== WebSocket.OPEN) return
      if (socket.bufferedAmount > UNREAD_MAX) socket.terminate()
      else socket.send(JSON.stringify(frame))
    },
    ping,
    beat: () => {
      if (unanswered >= 2) return socket.terminate()
      unanswered++
      ping(() => {})
    },
    close: (code, reason) => socket.close(code, reason)
  }
}
