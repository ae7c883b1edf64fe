import { SUBPROTOCOL } from "@harness/protocol/jambonz"
import { Data, Effect } from "effect"
import { WebSocket } from "ws"

/** The socket was not opened: the harness refused, or nobody was there. */
export class SocketRefused extends Data.TaggedError("SocketRefused")<{
  readonly message: string
  /** The answer's status, when there was one. */
  readonly status?: number
}> {}

/** What a socket tells. Nothing is told any more after it was left. */
export interface Listener {
  /** Told before anything else. */
  readonly opened: (socket: Socket) => void
  readonly text: (text: string) => void
  readonly binary: () => void
  /** Answered by whoever hears of it, once all that came before it is taken in: an answer says that it has arrived. */
  readonly ping: (answer: () => void) => void
  readonly closed: (code: number, reason: string) => void
}

/** An open socket to the harness. */
export interface Socket {
  readonly send: (text: string) => void
  readonly close: () => void
  /** Ends without a word. */
  readonly terminate: () => void
  /** Goes away and leaves it open: nothing is read, answered or told any more. */
  readonly leave: () => void
}

/** Opens a socket as feature-server does; whoever opened it ends it. */
export const openSocket = (
  url: string,
  secret: string | undefined,
  listener: Listener
): Effect.Effect<void, SocketRefused> =>
  Effect.async((resume) => {
    const headers = secret === undefined ? {} : { Authorization: `Bearer ${secret}` }
    const socket = new WebSocket(url, SUBPROTOCOL, { headers, perMessageDeflate: false, autoPong: false })
    let left = false
    let opened = false
    const unless = (tell: () => void) => {
      if (!left) tell()
    }
    socket.on("message", (data, isBinary) =>
      unless(() => (isBinary ? listener.binary() : listener.text(data.toString())))
    )
    socket.on("ping", (data) => unless(() => listener.ping(() => unless(() => socket.pong(data, undefined, () => {})))))
    socket.on("close", (code, reason) => {
      if (opened) unless(() => listener.closed(code, reason.toString()))
    })
    socket.on("unexpected-response", (_, response) => {
      const status = response.statusCode ?? 0
      response.resume()
      resume(Effect.fail(new SocketRefused({ message: `refused with HTTP ${status}`, status })))
      socket.terminate()
    })
    socket.on("error", (error) => resume(Effect.fail(new SocketRefused({ message: error.message }))))
    socket.on("open", () => {
      opened = true
      listener.opened({
        send: (text) => socket.send(text, () => {}),
        close: () => socket.close(1000),
        terminate: () => socket.terminate(),
        leave: () => {
          left = true
          socket.pause()
        }
      })
      resume(Effect.void)
    })
    return Effect.sync(() => socket.terminate())
  })
