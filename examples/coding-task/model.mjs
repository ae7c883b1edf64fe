// An OpenAI-compatible model that knows one task: write sum.mjs and its test, run the test, say what came of it.
// `node examples/coding-task/model.mjs 4801` serves it on that port of this machine.
import { createServer } from "node:http"

const files = {
  "sum.mjs": "export const sum = (...numbers) => numbers.reduce((a, b) => a + b, 0)\n",
  "sum.test.mjs":
    'import assert from "node:assert"\nimport test from "node:test"\nimport { sum } from "./sum.mjs"\n' +
    'test("adds", () => assert.equal(sum(1, 2, 3), 6))\n'
}

const call = (index, name, args) => ({
  index,
  id: `call_${name}_${index}`,
  type: "function",
  function: { name, arguments: JSON.stringify(args) }
})

/** What it says next, by the results it has been shown so far. */
const next = (messages) => {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content))
  if (results.length === 0) {
    const calls = Object.entries(files).map(([path, content], index) => call(index, "write", { path, content }))
    return { text: "I write the module and its test.", calls }
  }
  if (results.length === 2)
    return { text: "Now I run the test.", calls: [call(0, "shell", { command: "node --test" })] }
  const passed = /^# pass (\d+)/m.exec(results.at(-1) ?? "")?.[1]
  return {
    text:
      passed === undefined ? "The test did not run." : `Done: sum.mjs adds its arguments, and ${passed} test passes.`,
    calls: []
  }
}

const server = createServer(async (request, response) => {
  let body = ""
  for await (const chunk of request) body += chunk
  if (!request.url?.endsWith("/chat/completions")) {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ object: "list", data: [{ id: "carpenter", object: "model" }] }))
    return
  }
  const { text, calls } = next(JSON.parse(body).messages)
  const chunk = (delta, finish_reason = null) =>
    response.write(
      `data: ${JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 0,
        model: "carpenter",
        choices: [{ index: 0, delta, finish_reason }]
      })}\n\n`
    )
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const word of text.split(/(?<= )/)) chunk({ content: word })
  if (calls.length > 0) chunk({ tool_calls: calls })
  chunk({}, calls.length > 0 ? "tool_calls" : "stop")
  response.end("data: [DONE]\n\n")
})

server.listen(Number(process.argv[2] ?? 4801), "127.0.0.1")
