import type { ServerResponse } from "node:http"
import { caller } from "../wire.ts"
import { completion, type Wish } from "../wish.ts"
import { serve } from "./child.ts"

const model = caller(process.argv[2] ?? "")
const readers = new Set<ServerResponse>()
const contentIn = /"content":"([^"]*)"/

const run = async (wish: Wish) => {
  const response = await model.open("POST", "/v1/chat/completions", completion(wish))
  let rest = ""
  let offset = 0
  for await (const chunk of response.setEncoding("utf8")) {
    const events = (rest + chunk).split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events) {
      const delta = contentIn.exec(event)?.[1]
      if (delta === undefined) continue
      // The frame our server sends for the same delta, encoded once, written to each reader as it comes.
      const fields = {
        type: "session.turn.text.delta",
        sessionId: "fan",
        turnId: `fan-${wish.mark}`,
        attempt: 1,
        partId: "p1",
        offset,
        delta
      }
      const frame = Buffer.from(`event: session.turn.text.delta\ndata: ${JSON.stringify(fields)}\n\n`)
      offset += delta.length
      for (const reader of readers) reader.write(frame)
    }
  }
}

/** Fan-out with node:http alone: `GET` is a reader, `POST` runs a wish. */
serve((request, response) => {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
    response.write(": hello\n\n")
    readers.add(response)
    response.on("close", () => readers.delete(response))
    return
  }
  let body = ""
  request
    .setEncoding("utf8")
    .on("data", (text: string) => {
      body += text
    })
    .on("end", () => {
      const { content }: { content: string } = JSON.parse(body)
      const wish: Wish = JSON.parse(content)
      run(wish).then(() => response.end("{}"))
    })
})
