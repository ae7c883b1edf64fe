import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type WebSocket, WebSocketServer } from "ws"

/** A message of jambonz, as a harness that only looks at some of it sees it. */
export interface Message {
  readonly type: string
  readonly turn_id?: number
  readonly input?: { readonly type: string; readonly text?: string }
  readonly [field: string]: unknown
}

/** One connection to the harness. */
export interface Connection {
  readonly socket: WebSocket
  readonly request: IncomingMessage
  readonly got: ReadonlyArray<Message>
  readonly send: (frame: object) => void
  readonly chunk: (reply_id: string, turn_id: number | undefined, content: string, more?: object) => void
  readonly done: (reply_id: string, turn_id?: number, more?: object) => void
  /** A whole reply. */
  readonly reply: (reply_id: string, turn_id: number | undefined, text: string, more?: object) => void
  /** With this code, once the socket is closed. */
  readonly closed: Promise<number>
}

/** A small harness on a free port. */
export interface TestHarness extends AsyncDisposable {
  readonly url: string
  readonly connections: ReadonlyArray<Connection>
}

const connect = (socket: WebSocket, request: IncomingMessage, got: ReadonlyArray<Message>): Connection => {
  const send = (frame: object) => socket.send(JSON.stringify(frame))
  const of = (turn_id: number | undefined) => (turn_id === undefined ? {} : { turn_id })
  const chunk: Connection["chunk"] = (reply_id, turn_id, content, more = {}) =>
    send({
      type: "reply:chunk",
      reply_id,
      ...of(turn_id),
      ...more,
      chunk: {
        id: reply_id,
        object: "chat.completion.chunk",
        created: 0,
        model: "test",
        choices: [{ index: 0, delta: { content }, finish_reason: null }]
      }
    })
  const done: Connection["done"] = (reply_id, turn_id, more = {}) =>
    send({ type: "reply:done", reply_id, ...of(turn_id), ...more })
  return {
    socket,
    request,
    got,
    send,
    chunk,
    done,
    reply: (reply_id, turn_id, text, more) => {
      chunk(reply_id, turn_id, text, more)
      done(reply_id, turn_id)
    },
    closed: once(socket, "close").then(([code]) => Number(code))
  }
}

/** Starts a harness that answers each message as it is told to. `admit`: the status an upgrade is refused with. */
export const startHarness = async (
  on: (message: Message, connection: Connection) => void,
  admit: (request: IncomingMessage, connections: number) => number | undefined = () => undefined
): Promise<TestHarness> => {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => "harness.jambonz.org" })
  const connections: Array<Connection> = []
  server.on("upgrade", (request, raw, head) => {
    const refused = admit(request, connections.length)
    if (refused !== undefined) {
      raw.end(`HTTP/1.1 ${refused} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, raw, head, (socket) => {
      const got: Array<Message> = []
      const connection = connect(socket, request, got)
      connections.push(connection)
      socket.on("message", (data) => {
        const message: Message = JSON.parse(data.toString())
        got.push(message)
        on(message, connection)
      })
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `ws://127.0.0.1:${port}/v1/servers/default/jambonz?agent=desk`,
    connections,
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of connections) socket.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
