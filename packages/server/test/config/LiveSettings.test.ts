import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { HookId } from "@harness/protocol"
import { Effect, Layer, Logger, Redacted, TestClock } from "effect"
import { loadSettings, Settings } from "../../src/config/Config.ts"
import { LiveSettings } from "../../src/config/LiveSettings.ts"
import { Redaction } from "../../src/config/Redaction.ts"
import { HostHooks, HostHooksLayer } from "../../src/hooks/HostHooks.ts"
import { Models } from "../../src/models/Models.ts"

const SECRET = "whsec_c2VjcmV0LXNlY3JldA=="
const env = { MY_KEY: "sk-key-of-mine", OTHER_KEY: "sk-another-key", HOOK_SECRET: SECRET }
const provider = { id: "mine", baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "MY_KEY", models: ["one"] }
const hook = { id: "gate", point: "pre-tool", url: "https://hooks.example/", secretEnv: "HOOK_SECRET" }

/** A process with a `harness.json` that the test writes. */
const started = (first: unknown) =>
  Effect.gen(function* () {
    const top = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "harness-live-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const cwd = join(top, "work")
    const data = join(top, "home", ".harness")
    for (const folder of [cwd, data]) mkdirSync(folder, { recursive: true })
    const write = (content: unknown, folder = cwd) =>
      writeFileSync(join(folder, "harness.json"), typeof content === "string" ? content : JSON.stringify(content))
    if (first !== undefined) write(first)
    const reread = loadSettings({ cwd, home: join(top, "home"), env })
    const settings = yield* reread
    const lines: Array<string> = []
    const log = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ annotations, message }) => lines.push(`${message} ${JSON.stringify([...annotations])}`))
    )
    const live = LiveSettings.layer({ cwd, reread }).pipe(
      Layer.provideMerge(Layer.merge(Settings.layer(settings), Redaction.layer([])))
    )
    const context = yield* Layer.build(
      Layer.mergeAll(
        Models.layerLive((now) => ({
          custom: now.providers,
          models: now.models,
          ...(now.model ? { model: now.model } : {})
        })),
        HostHooksLayer
      ).pipe(Layer.provideMerge(live), Layer.provideMerge(log))
    )
    const during = <A, E>(use: Effect.Effect<A, E, LiveSettings | Models | Redaction>) => Effect.provide(use, context)
    return { cwd, data, write, lines, during, remove: () => rmSync(join(cwd, "harness.json")) }
  })

const reload = Effect.flatMap(LiveSettings, (settings) => settings.reload)
const resolves = (name: string) =>
  Effect.flatMap(Models, (models) =>
    Effect.match(models.resolve(name), { onFailure: ({ code }) => code, onSuccess: ({ name }) => name })
  )
const hooks = Effect.flatMap(HostHooks, (current) => current)

describe("settings that change while the process runs", () => {
  it.scoped("providers, models, the default model, hooks and limits are read when it is asked for", () =>
    Effect.gen(function* () {
      const { during, write } = yield* started({})
      assert.strictEqual(yield* during(resolves("mine/one")), "model.unknown")
      assert.deepEqual(yield* during(reload), { revision: 0, changed: [], failures: [] })
      write({
        providers: [provider],
        models: { "mine/one": { contextWindow: 1000 } },
        model: "mine/one",
        hooks: [hook],
        limits: { maxSteps: 7, session: { maxCostUsd: 2 } }
      })
      assert.deepEqual(yield* during(reload), {
        revision: 1,
        changed: ["providers", "models", "model", "hooks", "limits"],
        failures: []
      })
      assert.strictEqual(yield* during(resolves("mine/one")), "mine/one")
      const { contextWindow, defaultModel, limits } = yield* during(
        Effect.gen(function* () {
          const models = yield* Models
          const { limits } = yield* (yield* LiveSettings).current
          const { contextWindow } = yield* Effect.orDie(models.resolve("mine/one"))
          return { contextWindow, limits, defaultModel: yield* models.defaultModel }
        })
      )
      assert.deepEqual([contextWindow, defaultModel], [1000, "mine/one"])
      assert.deepEqual(limits, { maxSteps: 7, session: { maxCostUsd: 2 } })
      assert.deepEqual(yield* during(hooks), [
        {
          hookId: HookId.make("gate"),
          point: "pre-tool",
          url: "https://hooks.example/",
          priority: 0,
          timeoutMillis: 5000,
          onError: "fail_closed",
          secret: SECRET
        }
      ])
      write({})
      assert.deepEqual((yield* during(reload)).revision, 2)
      assert.strictEqual(yield* during(resolves("mine/one")), "model.unknown")
      assert.deepEqual(yield* during(hooks), [])
    })
  )

  it.scoped("a file that cannot be used changes nothing, and is named without what it holds", () =>
    Effect.gen(function* () {
      const { during, lines, write } = yield* started({ providers: [provider], hooks: [hook] })
      const bad: ReadonlyArray<readonly [unknown, string]> = [
        ["{", "harness.json is not valid JSON"],
        [{ provider: [] }, "provider is not known here"],
        [{ providers: [{ ...provider, baseUrl: "c4n4ry" }] }, "providers.0.baseUrl must be"],
        [{ providers: [], hooks: [{ ...hook, secretEnv: "NOT_SET" }] }, "hooks.0.secretEnv must name"],
        [{ hooks: [{ ...hook, secretEnv: "MY_KEY" }] }, "hooks.0.secretEnv names a secret that must be whsec_"],
        [{ hooks: [{ ...hook, url: "c4n4ry" }] }, "hooks.0.url must be an absolute URL"],
        [{ hooks: [{ ...hook, functions: ["[c4n4ry"] }] }, "hooks.0.functions.0 must be a glob"],
        [{ hooks: [hook, hook] }, "hooks.1.id is already the name of a hook"],
        [{ limits: { turn: { maxTokens: 0 } } }, "limits.turn.maxTokens must be"]
      ]
      for (const [content, message] of bad) {
        write(content)
        const { changed, failures, revision } = yield* during(reload)
        assert.deepEqual([revision, changed], [0, []])
        const [failure] = failures
        assert.deepInclude(failure?.failure, { kind: "permanent", code: "settings.invalid", retryable: false })
        assert.strictEqual(failure?.name, "harness.json")
        assert.include(failure?.failure.message ?? "", message)
      }
      assert.strictEqual(yield* during(resolves("mine/one")), "mine/one")
      assert.lengthOf(yield* during(hooks), 1)
      assert.lengthOf(
        lines.filter((line) => line.startsWith("harness.json is not used")),
        bad.length
      )
      assert.notMatch(lines.join(), /c4n4ry|sk-|whsec_c/)
    })
  )

  it.scoped("the file is watched: a change applies by itself, once it stands still, and is tried once", () =>
    Effect.gen(function* () {
      const { during, lines, remove, write } = yield* started(undefined)
      write("{ half")
      yield* TestClock.adjust("1 second")
      write({ providers: [provider] })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* during(resolves("mine/one")), "model.unknown")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* during(resolves("mine/one")), "mine/one")
      assert.lengthOf(lines, 1)
      write("{ bad")
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(lines, 2)
      assert.strictEqual(yield* during(resolves("mine/one")), "mine/one")
      remove()
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* during(resolves("mine/one")), "model.unknown")
    })
  )

  it.scoped("the file in the data folder counts where there is none to work in", () =>
    Effect.gen(function* () {
      const { data, during, write } = yield* started(undefined)
      write({ providers: [provider] }, data)
      assert.deepEqual((yield* during(reload)).changed, ["providers"])
      write({})
      assert.deepEqual((yield* during(reload)).changed, ["providers"])
      assert.strictEqual(yield* during(resolves("mine/one")), "model.unknown")
    })
  )

  it.scoped("another key is a change, and every key that comes is kept out of what is shown", () =>
    Effect.gen(function* () {
      const { during, write } = yield* started({ providers: [{ ...provider, apiKeyEnv: "OTHER_KEY" }] })
      write({ providers: [provider], hooks: [hook] })
      assert.deepEqual((yield* during(reload)).changed, ["providers", "hooks"])
      const shown = yield* during(Effect.map(Redaction, ({ text }) => text(`a ${env.MY_KEY} b ${SECRET}`)))
      assert.notInclude(shown, "key-of-mine")
      assert.notInclude(shown, "c2VjcmV0")
      const { providers } = yield* during(Effect.flatMap(LiveSettings, ({ current }) => current))
      const key = providers[0]?.apiKey
      assert.strictEqual(key === undefined ? "" : Redacted.value(key), env.MY_KEY)
    })
  )

  it.scoped("what needs a start stays as it is, and that is said", () =>
    Effect.gen(function* () {
      const { during, lines, write } = yield* started({})
      write({ port: 5000, logLevel: "error", limits: { maxSteps: 3 } })
      assert.deepEqual((yield* during(reload)).changed, ["limits"])
      const { logLevel, port } = yield* during(Effect.flatMap(LiveSettings, ({ current }) => current))
      assert.deepEqual([port, logLevel], [4700, "info"])
      assert.isTrue(lines.some((line) => line.includes("next start") && line.includes("port")))
    })
  )
})
