import type { IncomingMessage, ServerResponse } from "node:http"
import { caller } from "../wire.ts"
import { completion, type Wish } from "../wish.ts"
import { serve } from "./child.ts"
import { openPlain } from "./rows.ts"

const [, , file = "", modelUrl = ""] = process.argv
const rows = openPlain(file)
const model = caller(modelUrl)

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = ""
  for await (const part of request.setEncoding("utf8")) body += part
  return body
}

const contentIn = /"content":"([^"]*)"/

/** Asks the model and puts its deltas together. */
const generate = async (wish: Wish): Promise<string> => {
  const response = await model.open("POST", "/v1/chat/completions", completion(wish))
  let text = ""
  let rest = ""
  for await (const chunk of response.setEncoding("utf8")) {
    const events = (rest + chunk).split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events) text += contentIn.exec(event)?.[1] ?? ""
  }
  return text
}

const route = async (request: IncomingMessage): Promise<unknown> => {
  const [, kind, sessionId = "", turnId = ""] = (request.url ?? "").split("/")
  if (kind === "health")
    return { status: "ok", protocol: 1, release: "0.0.0", uptimeMillis: Math.round(process.uptime() * 1000) }
  const body = await bodyOf(request)
  if (kind === "sessions") return rows.createSession(sessionId, body)
  const receipt = rows.submit(sessionId, turnId, body)
  if (kind === "submit") return receipt
  const { content }: { content: string } = JSON.parse(body)
  const wish: Wish = JSON.parse(content)
  return rows.finish(sessionId, turnId, content, await generate(wish))
}

const reply = (response: ServerResponse, status: number, value: unknown) => {
  const text = JSON.stringify(value)
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}

/** node:http and better-sqlite3 with nothing in between: `/sessions/S`, `/submit/S/T`, `/run/S/T`, `/health`. */
serve((request, response) => {
  route(request).then(
    (value) => reply(response, 200, value),
    (error) => reply(response, 500, { error: String(error) })
  )
})
