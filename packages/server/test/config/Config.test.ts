import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { Tokens } from "../../src/auth/Tokens.ts"
import { loadSettings, type SettingsFlags } from "../../src/config/Config.ts"

interface Place {
  readonly cwd: string
  readonly home: string
}

/** A working and a home folder, gone after the test. */
const place = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "harness-config-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ),
  (path): Place => {
    const at = { cwd: join(path, "work"), home: join(path, "home") }
    mkdirSync(at.cwd)
    mkdirSync(at.home)
    return at
  }
)

const load = (at: Place, env: Record<string, string> = {}, flags: SettingsFlags = {}) =>
  loadSettings({ ...at, env, flags })
const file = (folder: string, content: unknown) => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "harness.json"), typeof content === "string" ? content : JSON.stringify(content))
}

describe("settings", () => {
  it.scoped("have defaults that serve this machine alone", () =>
    Effect.gen(function* () {
      const at = yield* place
      assert.deepEqual(yield* load(at), {
        port: 4700,
        host: "127.0.0.1",
        data: join(at.home, ".harness"),
        root: at.cwd,
        durability: "full",
        allowedOrigins: [],
        allowedHosts: [],
        allowPrivateUrls: false,
        logLevel: "info",
        providers: [],
        models: {},
        hooks: [],
        limits: {}
      })
    })
  )

  it.scoped("come from flags first, then the environment, then harness.json", () =>
    Effect.gen(function* () {
      const at = yield* place
      file(at.cwd, { port: 1, durability: "normal", logLevel: "warn" })
      const settings = yield* load(at, { HARNESS_PORT: "2", HARNESS_LOG_LEVEL: "error" }, { port: 3 })
      assert.deepInclude(settings, { port: 3, logLevel: "error", durability: "normal" })
      assert.strictEqual(settings.file, join(at.cwd, "harness.json"))
    })
  )

  it.scoped("of the environment are read whole", () =>
    Effect.gen(function* () {
      const at = yield* place
      mkdirSync(join(at.cwd, "projects"))
      const settings = yield* load(at, {
        HARNESS_PORT: "0",
        HARNESS_HOST: "[::1]",
        HARNESS_DATA: "~/state",
        HARNESS_ROOT: "projects",
        HARNESS_TOKEN: "canary-token",
        HARNESS_DURABILITY: "normal",
        HARNESS_ALLOWED_ORIGINS: "https://a.example, http://localhost:3000,tauri://localhost",
        HARNESS_ALLOWED_HOSTS: "Harness.example,10.0.0.5:80,[fd00::1]",
        HARNESS_ALLOW_PRIVATE_URLS: "1",
        HARNESS_MODEL: "openai/gpt-5",
        HARNESS_LOG_LEVEL: "trace",
        OPENAI_API_KEY: "canary-openai",
        OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
        ANTHROPIC_API_KEY: "canary-anthropic",
        GOOGLE_API_KEY: "canary-google\n"
      })
      assert.deepInclude(settings, {
        port: 0,
        host: "::1",
        data: join(at.home, "state"),
        root: join(at.cwd, "projects"),
        durability: "normal",
        allowedOrigins: ["https://a.example", "http://localhost:3000", "tauri://localhost"],
        allowedHosts: ["harness.example", "10.0.0.5:80", "[fd00::1]"],
        allowPrivateUrls: true,
        model: "openai/gpt-5",
        logLevel: "trace",
        openaiBaseUrl: "http://127.0.0.1:9/v1"
      })
      const keys = [settings.token, settings.openaiApiKey, settings.anthropicApiKey, settings.googleApiKey]
      assert.deepEqual(
        keys.map((key) => key && Redacted.value(key)),
        ["canary-token", "canary-openai", "canary-anthropic", "canary-google"]
      )
      assert.notInclude(JSON.stringify(settings), "canary")
    })
  )

  it.scoped("that are empty are not set", () =>
    Effect.gen(function* () {
      const settings = yield* load(
        yield* place,
        { HARNESS_PORT: "", OPENAI_API_KEY: "" },
        { host: undefined, model: "" }
      )
      assert.strictEqual(settings.port, 4700)
      assert.notProperty(settings, "openaiApiKey")
      assert.notProperty(settings, "model")
    })
  )

  const bad: Record<string, ReadonlyArray<string>> = {
    HARNESS_PORT: ["70000", "-1", "4700.5", "0x10", "canary", "1e3", " 1"],
    HARNESS_HOST: ["canary host", "127.0.0.1:80", "http://x", "a_b"],
    HARNESS_ROOT: ["/no/such/canary"],
    HARNESS_DURABILITY: ["canary"],
    HARNESS_ALLOWED_ORIGINS: ["*", "null", "canary.example", "https://canary.example/", "https://*.example"],
    HARNESS_ALLOWED_HOSTS: ["*", "http://canary", "canary:99999", "a b", "[canary]"],
    HARNESS_ALLOW_PRIVATE_URLS: ["canary"],
    HARNESS_MODEL: ["canary", "canary/", "/canary"],
    HARNESS_LOG_LEVEL: ["canary"],
    HARNESS_TOKEN: ["canary token", "canäry"],
    OPENAI_API_KEY: ["canary key"],
    OPENAI_BASE_URL: ["canary", "ftp://canary", "https://canary:secret@x.example", "https://x.example/?canary"]
  }
  for (const [key, values] of Object.entries(bad)) {
    it.scoped(`${key}: a bad value stops the start and is not repeated`, () =>
      Effect.gen(function* () {
        const at = yield* place
        for (const value of values) {
          const error = yield* Effect.flip(load(at, { [key]: value }))
          assert.deepInclude(error, { _tag: "SettingsError", key, source: "environment" }, value)
          assert.notInclude(error.message, "canary", value)
          assert.notStrictEqual(error.reason, "")
        }
      })
    )
  }

  it.scoped("name the flag, or the file, that was wrong", () =>
    Effect.gen(function* () {
      const at = yield* place
      assert.deepInclude(yield* Effect.flip(load(at, {}, { port: "x" })), { key: "--port", source: "command line" })
      file(at.cwd, { port: 70_000 })
      const error = yield* Effect.flip(load(at))
      assert.deepInclude(error, { key: "port", source: join(at.cwd, "harness.json") })
    })
  )

  it.scoped("a data folder that is a file stops the start", () =>
    Effect.gen(function* () {
      const at = yield* place
      writeFileSync(join(at.home, ".harness"), "")
      assert.deepInclude(yield* Effect.flip(load(at)), { key: "data", source: "default", reason: "is not a folder" })
    })
  )
})

describe("harness.json", () => {
  const refused: Record<string, readonly [unknown, string]> = {
    "no JSON": ['{"port": canary}', "harness.json"],
    "a list": [[], "harness.json"],
    "an unknown key": [{ prot: 1 }, "prot"],
    "a secret": [{ token: "canary" }, "token"],
    "a wrong type": [{ port: "canary" }, "port"],
    "an unknown provider field": [
      { providers: [{ id: "x", baseUrl: "http://x", apiKey: "canary" }] },
      "providers.0.apiKey"
    ],
    "a provider without URL": [{ providers: [{ id: "x" }] }, "providers.0.baseUrl"],
    "a provider with a bad URL": [{ providers: [{ id: "x", baseUrl: "canary" }] }, "providers.0.baseUrl"],
    "a provider with a bad id": [{ providers: [{ id: "a/b", baseUrl: "http://x" }] }, "providers.0.id"],
    "a provider that is built in": [{ providers: [{ id: "openai", baseUrl: "http://x" }] }, "providers.0.id"],
    "a provider twice": [
      {
        providers: [
          { id: "x", baseUrl: "http://x" },
          { id: "x", baseUrl: "http://y" }
        ]
      },
      "providers.1.id"
    ]
  }
  for (const [what, [content, key]] of Object.entries(refused)) {
    it.scoped(`with ${what} stops the start, naming ${key}`, () =>
      Effect.gen(function* () {
        const at = yield* place
        file(at.cwd, content)
        const error = yield* Effect.flip(load(at))
        assert.deepInclude(error, { _tag: "SettingsError", key, source: join(at.cwd, "harness.json") })
        assert.notInclude(error.message, "canary")
      })
    )
  }

  it.scoped("names providers, whose keys come from the environment", () =>
    Effect.gen(function* () {
      const at = yield* place
      file(at.cwd, {
        $schema: "x",
        providers: [
          { id: "local", baseUrl: "http://127.0.0.1:1/v1" },
          { id: "far", name: "Far", baseUrl: "https://far.example/v1", apiKeyEnv: "FAR_KEY", models: ["big"] }
        ]
      })
      const { providers } = yield* load(at, { FAR_KEY: "canary" })
      assert.deepEqual(providers[0], { id: "local", baseUrl: "http://127.0.0.1:1/v1" })
      assert.deepInclude(providers[1], { id: "far", name: "Far", models: ["big"] })
      assert.strictEqual(providers[1]?.apiKey && Redacted.value(providers[1].apiKey), "canary")
    })
  )

  it.scoped("in the data folder is read when the working folder has none, and cannot move the data", () =>
    Effect.gen(function* () {
      const at = yield* place
      const data = join(at.home, ".harness")
      file(data, { port: 5 })
      assert.strictEqual((yield* load(at)).port, 5)
      file(at.cwd, { logLevel: "warn" })
      assert.deepInclude(yield* load(at), { port: 4700, logLevel: "warn" })
      rmSync(join(at.cwd, "harness.json"))
      file(data, { data: "/elsewhere" })
      assert.deepInclude(yield* Effect.flip(load(at)), { key: "data", source: join(data, "harness.json") })
    })
  )

  it.scoped("counts its folders from where it lies", () =>
    Effect.gen(function* () {
      const at = yield* place
      mkdirSync(join(at.home, "state", "root"), { recursive: true })
      file(join(at.home, "state"), { root: "root" })
      const settings = yield* load(at, { HARNESS_DATA: join(at.home, "state") })
      assert.strictEqual(settings.root, join(at.home, "state", "root"))
    })
  )
})

describe("binding", () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.5", "harness.example"]) {
    it.scoped(`${host} needs a token that somebody chose`, () =>
      Effect.gen(function* () {
        const at = yield* place
        const error = yield* Effect.flip(load(at, { HARNESS_HOST: host }))
        assert.deepInclude(error, { key: "HARNESS_HOST", source: "environment" })
        assert.include(error.reason, "HARNESS_TOKEN")
        // The token made at start is nobody's choice.
        yield* Layer.build(Tokens.layer({ data: join(at.home, ".harness") }))
        assert.strictEqual((yield* Effect.flip(load(at, { HARNESS_HOST: host })))._tag, "SettingsError")
        assert.strictEqual((yield* load(at, { HARNESS_HOST: host, HARNESS_TOKEN: "chosen" })).host, host)
        const tokens = yield* Layer.build(Tokens.layerFile({ data: join(at.home, ".harness") }))
        yield* Context.get(tokens, Tokens).add({ actor: "a", scopes: ["read"] })
        assert.strictEqual((yield* load(at, { HARNESS_HOST: host })).host, host)
      })
    )
  }

  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1", "[::1]"]) {
    it.scoped(`${host} needs none`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* load(yield* place, { HARNESS_HOST: host })).port, 4700)
      })
    )
  }
})
