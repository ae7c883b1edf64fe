import { createServer } from "node:http"
import { type WebSocket, WebSocketServer } from "ws"
import { caller } from "../wire.ts"
import { say } from "./child.ts"

const model = caller(process.argv[2] ?? "", 1_000)
const contentIn = /"content":"([^"]*)"/

interface Message {
  readonly role: string
  content: string
}

interface Frame {
  readonly type: string
  readonly turn_id: number
  readonly reply_id: string
  readonly spoken: string
  readonly input: { readonly text: string }
}

/** The minimal harness of the protocol's page: what comes from the model goes on as it came. */
const serveCall = (socket: WebSocket) => {
  const history: Array<Message> = []
  const replies = new Map<string, Message>()
  const send = (type: string, data: object) => socket.send(JSON.stringify({ type, ...data }))
  let current: number | undefined

  const run = async ({ input, turn_id }: Frame) => {
    current = turn_id
    history.push({ role: "user", content: input.text })
    const reply_id = `r${turn_id}`
    const said = { role: "assistant", content: "" }
    const messages = [...history]
    history.push(said)
    replies.set(reply_id, said)
    const response = await model.open("POST", "/v1/chat/completions", { model: "bench", messages, stream: true })
    let rest = ""
    for await (const text of response.setEncoding("utf8")) {
      const events = (rest + text).split("\n\n")
      rest = events.pop() ?? ""
      for (const event of events) {
        const content = contentIn.exec(event)?.[1]
        if (content === undefined) continue
        if (current !== turn_id) return
        said.content += content
        send("reply:chunk", { reply_id, turn_id, chunk: JSON.parse(event.slice("data: ".length)) })
      }
    }
    send("reply:done", { reply_id, turn_id, turn_record: { model_calls: 1 } })
  }

  socket.on("message", (data) => {
    const frame: Frame = JSON.parse(data.toString())
    if (frame.type === "session:start") history.push({ role: "system", content: "You answer calls." })
    if (frame.type === "turn:start") void run(frame)
    if (frame.type === "turn:cancel" && current === frame.turn_id) current = undefined
    if (frame.type === "event" && frame.spoken !== undefined) {
      const said = replies.get(frame.reply_id)
      if (said !== undefined) said.content = frame.spoken
    }
  })
}

const server = createServer()
const sockets = new WebSocketServer({ server, handleProtocols: () => "harness.jambonz.org", perMessageDeflate: false })
sockets.on("connection", serveCall)
server.listen(0, "127.0.0.1", 4096, () => {
  const address = server.address()
  if (address !== null && typeof address !== "string") say(`ws://127.0.0.1:${address.port}`)
})
