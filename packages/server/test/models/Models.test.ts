import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Models } from "../../src/models/Models.ts"
import { ProviderSettings } from "../../src/providers/ProviderSettings.ts"
import { collect, scripted, textOf } from "../providers/support.ts"

const key = Redacted.make("sk-secret-key")

const withSettings =
  (settings: typeof ProviderSettings.Service) =>
  <A, E>(use: (models: typeof Models.Service) => Effect.Effect<A, E>) =>
    Effect.flatMap(Models, use).pipe(
      Effect.provide(Models.layer.pipe(Layer.provide(Layer.succeed(ProviderSettings, settings))))
    )

const codeOf = (settings: typeof ProviderSettings.Service, name: string) =>
  withSettings(settings)((models) => models.check(name)).pipe(
    Effect.match({ onFailure: (error) => `${error._tag} ${error.code}`, onSuccess: () => "fine" })
  )

describe("Models", () => {
  it.effect("demo is always there, with its one model", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* codeOf({}, "demo/demo"), "fine")
      assert.strictEqual(yield* codeOf({}, "demo/other"), "ValidationError model.unknown")
    })
  )

  it.effect("unknown providers and malformed names are unknown, known ones without a key not connected", () =>
    Effect.gen(function* () {
      for (const name of ["nobody/x", "demo", "", "/demo", "demo/", "openai/"]) {
        assert.strictEqual(yield* codeOf({}, name), "ValidationError model.unknown", name)
      }
      for (const name of ["openai/gpt-5", "anthropic/claude-x", "google/gemini-x"]) {
        assert.strictEqual(yield* codeOf({}, name), "ConflictError model.not_connected", name)
      }
      assert.strictEqual(
        yield* codeOf({ openaiApiKey: Redacted.make("") }, "openai/x"),
        "ConflictError model.not_connected"
      )
    })
  )

  it.effect("a key or a base URL connects; any model name is passed on", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* codeOf({ openaiApiKey: key }, "openai/a/b:c"), "fine")
      assert.strictEqual(yield* codeOf({ openaiBaseUrl: "http://127.0.0.1:1/v1" }, "openai/x"), "fine")
      assert.strictEqual(yield* codeOf({ anthropicApiKey: key }, "anthropic/x"), "fine")
      assert.strictEqual(yield* codeOf({ googleApiKey: key }, "google/x"), "fine")
    })
  )

  it.effect("the default: HARNESS_MODEL, else the first connected, else demo", () =>
    Effect.gen(function* () {
      const defaultFor = (settings: typeof ProviderSettings.Service) =>
        withSettings(settings)((models) => models.defaultModel)
      assert.strictEqual(yield* defaultFor({}), "demo/demo")
      assert.strictEqual(yield* defaultFor({ model: "x/y", openaiApiKey: key }), "x/y")
      assert.match(yield* defaultFor({ googleApiKey: key, anthropicApiKey: key }), /^anthropic\//)
      assert.match(yield* defaultFor({ openaiBaseUrl: "http://127.0.0.1:1/v1" }), /^openai\//)
      const custom = [{ id: "mine", baseUrl: "http://127.0.0.1:1/v1", models: ["m1", "m2"] }]
      assert.strictEqual(yield* defaultFor({ custom }), "mine/m1")
    })
  )

  it.effect("providers are listed without their keys", () =>
    Effect.gen(function* () {
      const custom = [{ id: "mine", name: "Mine", baseUrl: "http://127.0.0.1:1/v1", apiKey: key }]
      const providers = yield* withSettings({ openaiApiKey: key, custom })((models) => models.providers)
      assert.deepStrictEqual(
        providers.map(({ connected, providerId, source }) => [providerId, connected, source]),
        [
          ["demo", true, "builtin"],
          ["openai", true, "environment"],
          ["anthropic", false, "environment"],
          ["google", false, "environment"],
          ["mine", true, "file"]
        ]
      )
      assert.notInclude(JSON.stringify(providers), "secret")
    })
  )

  it.scoped("a provider of harness.json is asked with its own key, for the models it lists", () =>
    Effect.gen(function* () {
      const stub = yield* scripted()
      const settings = { custom: [{ id: "mine", baseUrl: stub.url, apiKey: key, models: ["m1"] }] }
      assert.strictEqual(yield* codeOf(settings, "mine/other"), "ValidationError model.unknown")
      const model = yield* withSettings(settings)((models) => models.resolve("mine/m1"))
      assert.deepInclude(model, { name: "mine/m1", provider: "mine", model: "m1", nativeJson: false })
      assert.strictEqual(textOf(yield* collect(model)), "ok")
      assert.strictEqual(stub.requests[0]?.headers.authorization, "Bearer sk-secret-key")
    })
  )

  it.effect("what is known of a model by its name", () =>
    Effect.gen(function* () {
      const settings = { openaiApiKey: key, anthropicApiKey: key, googleApiKey: key }
      const facts = (name: string) => withSettings(settings)((models) => models.resolve(name))
      assert.deepInclude(yield* facts("openai/gpt-5.2"), {
        thinkingLevels: ["low", "medium", "high", "xhigh"],
        contextWindow: 400_000
      })
      assert.deepInclude(yield* facts("openai/gpt-4.1-mini"), { thinkingLevels: [], nativeJson: true })
      assert.deepInclude(yield* facts("anthropic/claude-sonnet-4-20250514"), {
        nativeJson: false,
        contextWindow: 200_000
      })
      assert.deepInclude(yield* facts("anthropic/claude-opus-4-6"), { thinkingLevels: ["low", "medium", "high"] })
      assert.deepInclude(yield* facts("google/gemini-3-pro-preview"), {
        thinkingLevels: ["low", "high"],
        nativeJson: true
      })
    })
  )
})
