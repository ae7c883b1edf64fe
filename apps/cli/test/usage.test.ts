import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { commands } from "../src/commands.ts"
import { jsonLines, run, startProcess } from "./kit/cli.ts"

const escape = String.fromCharCode(27)

describe("how to use the program", () => {
  it("is said on standard output, without colours in a pipe", async () => {
    const { code, err, out } = await run([])
    assert.strictEqual(code, 0)
    assert.strictEqual(err, "")
    for (const { name } of commands) assert.include(out, name)
    assert.notInclude(out, escape)
    assert.deepStrictEqual(await run(["--help"]), { code, signal: null, out, err })
  })

  it("is said for a command and for a group of them, with examples", async () => {
    const prompt = await run(["prompt", "--help"])
    assert.strictEqual(prompt.code, 0)
    for (const word of ["--session", "--json", "Examples", "Ctrl-C"]) assert.include(prompt.out, word)
    const sessions = await run(["help", "sessions"])
    for (const word of ["sessions create", "sessions delete", "Examples"]) assert.include(sessions.out, word)
  })

  it("has a version", async () => {
    const { code, out } = await run(["--version"])
    assert.strictEqual(code, 0)
    assert.match(out, /^\d+\.\d+\.\d+\S*\n$/)
  })
})

describe("a command line that makes no sense", () => {
  it("ends with 2, one clear line and what to do about it", async () => {
    const { code, err, out } = await run(["prompt", "--sesion", "x", "hello"])
    assert.strictEqual(code, 2)
    assert.strictEqual(out, "")
    assert.strictEqual(err, "harness: unknown option --sesion\n  did you mean --session?\n")
  })

  it("is said to a program as an object, on the last line", async () => {
    const { code, out } = await run(["sessions", "get", "--json"])
    assert.strictEqual(code, 2)
    assert.deepInclude(jsonLines(out).at(-1)?.["error"], { code: "usage", message: "missing argument <session>" })
  })

  it("is one with an empty prompt", async () => {
    for (const args of [["prompt"], ["prompt", "-"], ["prompt", "  "]]) {
      const { code, err } = await run(args, { stdin: " \n" })
      assert.strictEqual(code, 2, args.join(" "))
      assert.match(err, /^harness: the prompt is /)
    }
  })

  it("or with an address that is none", async () => {
    const { code, err } = await run(["status", "--url", "nonsense"])
    assert.strictEqual(code, 2)
    assert.match(err, /^harness: the server's address must be an http or https URL\n/)
  })

  it("or with a setting the server cannot use", async () => {
    const flag = await run(["server", "--port", "70000"])
    assert.strictEqual(flag.code, 2)
    assert.match(flag.err, /^harness: --port must be a whole number from 0 to 65535\n/)
    const variable = await run(["server"], { env: { HARNESS_DURABILITY: "maybe" } })
    assert.strictEqual(variable.code, 1)
    assert.match(variable.err, /^harness: HARNESS_DURABILITY \(environment\): must be one of full, normal\n/)
  })
})

describe("the program under `pnpm start`", () => {
  const script = fileURLToPath(new URL("../../../scripts/start.mjs", import.meta.url))

  it("is built first, writes nothing of its own, and ends with the same code", async () => {
    const version = await startProcess(process.execPath, [script, "--version"]).done
    assert.strictEqual(version.code, 0)
    assert.match(version.out, /^\d+\.\d+\.\d+\S*\n$/)
    const bad = await startProcess(process.execPath, [script, "nonsense"]).done
    assert.strictEqual(bad.code, 2)
    assert.strictEqual(bad.out, "")
  })
})

describe("the API as OpenAPI", () => {
  it("is printed without a server, and survives a reader that stops reading", async () => {
    const { code, out } = await run(["openapi"])
    assert.strictEqual(code, 0)
    assert.match(String(JSON.parse(out).openapi), /^3\.1/)
    const program = fileURLToPath(new URL("../dist/main.js", import.meta.url))
    const script = '("$0" "$1" openapi; echo $? >&2) | head -n 1'
    const cut = await startProcess("sh", ["-c", script, process.execPath, program]).done
    assert.deepStrictEqual([cut.out, cut.err], ["{\n", "0\n"])
  })
})
