import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { isHere, tokenFor, urlOf } from "../src/connect.ts"
import { dataFolder } from "../src/dataFolder.ts"
import { plain } from "../src/render/style.ts"
import { Surroundings, type Writer } from "../src/Surroundings.ts"
import { temporaryFolder } from "./kit/cli.ts"

const silent: Writer = {
  write: () => Effect.void,
  push: () => {},
  isTerminal: false,
  columns: Number.POSITIVE_INFINITY,
  style: plain
}

const within = <A>(
  effect: Effect.Effect<A, never, Surroundings>,
  options: { readonly home?: string; readonly cwd?: string; readonly env?: Record<string, string> } = {}
): A =>
  Effect.runSync(
    Effect.provideService(effect, Surroundings, {
      argv: [],
      env: options.env ?? {},
      cwd: options.cwd ?? "/nowhere",
      home: options.home ?? "/home/somebody",
      pid: 1,
      nodeVersion: "20.19.0",
      platform: "linux",
      out: silent,
      err: silent,
      terminal: Option.none(),
      stdin: { isTerminal: false, text: Effect.succeed("") },
      stopped: Effect.never,
      unread: Effect.never
    })
  )

describe("where the server is", () => {
  it("comes from the option, then the environment, then a default", () => {
    const env = { HARNESS_URL: "http://b" }
    assert.strictEqual(within(urlOf("http://a"), { env }), "http://a")
    assert.strictEqual(within(urlOf(undefined), { env }), "http://b")
    assert.strictEqual(within(urlOf(undefined), { env: { HARNESS_URL: "" } }), "http://127.0.0.1:4700")
  })

  it("is here for a loopback address alone", () => {
    for (const url of ["http://127.0.0.1:4700", "http://localhost", "http://[::1]:1", "https://127.1.2.3"]) {
      assert.isTrue(isHere(url), url)
    }
    for (const url of ["http://10.0.0.1", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "x"]) {
      assert.isFalse(isHere(url), url)
    }
  })
})

describe("the token", () => {
  it("is the one that is named, else this machine's, which goes nowhere else", () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder.path, ".harness"))
    writeFileSync(join(folder.path, ".harness", "token"), "hrn_own\n")
    const home = folder.path
    assert.strictEqual(within(tokenFor("http://localhost:1", "a"), { home }), "a")
    assert.strictEqual(within(tokenFor("http://localhost:1", undefined), { home }), "hrn_own")
    assert.strictEqual(within(tokenFor("http://else.example", undefined), { home }), undefined)
    const env = { HARNESS_TOKEN: "b" }
    assert.strictEqual(within(tokenFor("http://else.example", undefined), { home, env }), "b")
    assert.strictEqual(within(tokenFor("http://localhost:1", undefined)), undefined)
    folder.remove()
  })
})

describe("the data folder", () => {
  it("is the one a server started here would use", () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder.path, "harness.json"), JSON.stringify({ data: "kept" }))
    const cwd = folder.path
    assert.strictEqual(within(dataFolder(undefined)), "/home/somebody/.harness")
    assert.strictEqual(within(dataFolder("~/x")), "/home/somebody/x")
    assert.strictEqual(within(dataFolder("x"), { cwd }), join(cwd, "x"))
    assert.strictEqual(within(dataFolder(undefined), { cwd, env: { HARNESS_DATA: "/d" } }), "/d")
    assert.strictEqual(within(dataFolder(undefined), { cwd }), join(cwd, "kept"))
    folder.remove()
  })
})
