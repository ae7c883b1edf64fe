import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { jsonLines, run } from "./kit/cli.ts"
import { startServer } from "./kit/server.ts"

/** A server of ours whose OpenAI-compatible provider answers as told, request by request. */
const withProvider = async (answers: ReadonlyArray<RequestListener>) => {
  let at = 0
  const stub = createServer((request, response) => answers[Math.min(at++, answers.length - 1)]?.(request, response))
  stub.listen(0, "127.0.0.1")
  await once(stub, "listening")
  const address = stub.address()
  const port = typeof address === "object" ? address?.port : 0
  const server = await startServer({
    env: { OPENAI_API_KEY: "sk-canary-0123456789", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }
  })
  return {
    server,
    requests: () => at,
    remove: async () => {
      await server.remove()
      stub.closeAllConnections()
      stub.close()
    }
  }
}

const refuse: RequestListener = (_, response) => {
  response.writeHead(401, { "content-type": "application/json" })
  response.end(
    JSON.stringify({ error: { message: "Incorrect API key provided: sk-canary-0123456789", code: "invalid" } })
  )
}
const reset: RequestListener = (request) => request.socket.destroy()
const say: RequestListener = (_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  const chunk = (choice: object) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...choice })}\n\n`
    )
  chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "It " } }] })
  chunk({ choices: [{ index: 0, delta: { content: "works" } }] })
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
  response.end("data: [DONE]\n\n")
}

describe("a provider", () => {
  it("that refuses the key fails the prompt, which shows no key", async () => {
    const { remove, server } = await withProvider([refuse])
    const banner = await server.run.saw("models")
    assert.match(banner, /models openai \(default openai\/\S+\)/)
    const { code, err, out } = await run(["prompt", "--json", "hello"], { env: server.env })
    await remove()
    assert.strictEqual(code, 1)
    assert.match(err, /^harness: the turn failed: .+\n$/)
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { kind: "auth_expired", state: "failed" })
    const log = await server.run.done
    assert.notInclude([out, err, log.out, log.err].join("\n"), "canary")
  })

  it("that fails once and then answers is no failure", async () => {
    const { remove, requests, server } = await withProvider([reset, say])
    const { code, err, out } = await run(["prompt", "--model", "openai/any", "hello"], { env: server.env })
    await remove()
    assert.strictEqual(code, 0, err)
    assert.strictEqual(out, "It works\n")
    assert.strictEqual(requests(), 2)
  })
})
