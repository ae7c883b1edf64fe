import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { APP_SUBPROTOCOL, FRAME_MAX, SUBPROTOCOL } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { WebSocket, WebSocketServer } from "ws"
import type { Wire } from "./Speaker.ts"

/** What the other side may be behind with in reading, in bytes; one that does not read is cut off. */
const UNREAD_MAX = 4 * FRAME_MAX
/** Signs of arrival that may be owed; who owes more gives none. */
const OWED_MAX = 4_096
/** Beats that go unanswered before a socket counts as gone. */
const BEATS_MAX = 2

/** What a socket tells its door. */
export interface Ears {
  readonly text: (text: string) => void
  /** A frame that is no text. */
  readonly binary: () => void
  /** We said goodbye: nothing it says from here on counts. */
  readonly closing: () => void
  readonly closed: () => void
}

/** The socket of a call, as its door holds it. */
export interface CallSocket extends Wire {
  readonly close: (code: number, reason: string) => void
  /** Asks whether the other side is there; one that did not answer for a while is cut off. */
  readonly beat: () => void
  /** Reads nothing more until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
  /** Ends it without a word. */
  readonly cut: () => void
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

/** A socket, and what carries it. */
export interface Upgraded {
  readonly socket: WebSocket
  readonly stream: Duplex
}

/** Turns a checked upgrade request into a socket; nothing when it is no WebSocket's. */
export const takeOver = (
  request: IncomingMessage,
  head: Buffer,
  subprotocol: keyof typeof sockets = SUBPROTOCOL
): Effect.Effect<Upgraded | undefined> =>
  Effect.async((resume) => {
    const stream = request.socket
    stream.once("close", () => resume(Effect.succeed(undefined)))
    sockets[subprotocol].handleUpgrade(request, stream, head, (socket) => resume(Effect.succeed({ socket, stream })))
  })

/** The socket as a call uses it. Pings are counted: a pong says that everything before its ping has arrived. */
export const callSocket = ({ socket, stream }: Upgraded, ears: Ears): CallSocket => {
  const owed: Array<{ readonly count: number; readonly arrived: () => void }> = []
  let pings = 0
  let beats = 0
  let isClosing = false
  socket.on("message", (data, isBinary) => {
    beats = 0
    if (isClosing) return
    if (isBinary) ears.binary()
    else ears.text(data.toString())
  })
  socket.on("pong", (payload) => {
    beats = 0
    const count = Number(payload.toString("latin1"))
    while (owed[0] !== undefined && owed[0].count <= count) owed.shift()?.arrived()
  })
  socket.on("close", () => ears.closed())
  socket.on("error", () => {})
  const isOpen = () => socket.readyState === WebSocket.OPEN
  const ping = (arrived: () => void) => {
    if (!isOpen()) return
    if (owed.length >= OWED_MAX) return socket.terminate()
    pings++
    owed.push({ count: pings, arrived })
    socket.ping(String(pings))
  }
  return {
    send: (frame) => {
      if (!isOpen()) return false
      if (socket.bufferedAmount > UNREAD_MAX) {
        socket.terminate()
        return false
      }
      socket.send(JSON.stringify(frame))
      return true
    },
    ping,
    together: (run) => {
      stream.cork()
      run()
      stream.uncork()
    },
    beat: () => {
      // Who is not listened to cannot answer.
      if (socket.isPaused) return
      if (beats >= BEATS_MAX) return socket.terminate()
      beats++
      ping(() => {})
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    cut: () => socket.terminate(),
    close: (code, reason) => {
      if (isClosing || !isOpen()) return
      isClosing = true
      socket.resume()
      socket.close(code, reason)
      ears.closing()
    }
  }
}
