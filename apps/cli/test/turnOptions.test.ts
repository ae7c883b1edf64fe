import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { jsonLines, run, temporaryFolder } from "./kit/cli.ts"
import { startServer, type TestServer } from "./kit/server.ts"

const folder = temporaryFolder()
const schema = join(folder.path, "schema.json")
let server: TestServer
beforeAll(async () => {
  writeFileSync(schema, JSON.stringify({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }))
  writeFileSync(join(folder.path, "broken.json"), "[1")
  server = await startServer()
})
afterAll(async () => {
  await server.remove()
  folder.remove()
})

const prompt = (...args: ReadonlyArray<string>) => run(["prompt", ...args], { env: server.env, cwd: folder.path })

describe("a prompt that is to deliver JSON", () => {
  it("prints the result alone, as JSON, and what is said around it beside it", async () => {
    const handed = await prompt("--output-schema", schema, 'Here it is.\nuse submit_result {"n":2}')
    assert.deepStrictEqual([handed.code, handed.out], [0, '{"n":2}\n'])
    assert.match(handed.err, /^Here it is\.\n→ submit_result /)
    const said = await prompt("-q", "--output-schema", "schema.json", '{"n":1}')
    assert.deepStrictEqual(said, { code: 0, signal: null, out: '{"n":1}\n', err: "" })
  })

  it("ends with 1 and why when there is no result", async () => {
    const { code, err, out } = await prompt("--output-schema", schema, "hello")
    assert.deepStrictEqual([code, out], [1, ""])
    assert.match(err, /\nharness: there is no result: \S.*\n$/)
    const json = await prompt("--json", "--output-schema", schema, '{"n":"one"}')
    assert.strictEqual(json.code, 1)
    assert.deepInclude(jsonLines(json.out).at(-1)?.["error"], { code: "turn.output_invalid", state: "completed" })
  })

  it("needs a file that holds JSON", async () => {
    const missing = await prompt("--output-schema", "none.json", "hello")
    assert.deepStrictEqual([missing.code, missing.err], [2, "harness: --output-schema: none.json is not there\n"])
    const broken = await prompt("--output-schema", "broken.json", "hello")
    assert.deepStrictEqual([broken.code, broken.err], [2, "harness: --output-schema: broken.json holds no JSON\n"])
    writeFileSync(join(folder.path, "wrong.json"), '{"type":"nonsense"}')
    const wrong = await prompt("--json", "--output-schema", "wrong.json", "hello")
    assert.strictEqual(wrong.code, 1)
    assert.deepInclude(jsonLines(wrong.out).at(-1)?.["error"], { code: "schema.invalid" })
  })
})

describe("a prompt with limits", () => {
  it("only reads in the modes plan and ask", async () => {
    const { code, err } = await prompt("--mode", "plan", 'use write {"path":"a","content":"b"}')
    assert.strictEqual(code, 0)
    assert.match(err, /← write rejected: .*policy/)
  })

  it("stops at its steps, tokens and time, and says so", async () => {
    const steps = await prompt("--max-steps", "1", 'use list {"path":"."}')
    assert.match(steps.err, /\n! The turn ended after 1 /)
    const tokens = await prompt("--budget-tokens", "5", "hello")
    assert.match(tokens.err, /! The turn may use 5 tokens/)
    const time = await prompt("--budget-millis", "1", 'use list {"path":"."}')
    assert.match(time.err, /! The turn may take 1 ms/)
  })
})
