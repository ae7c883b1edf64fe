import { assert, describe, it } from "@effect/vitest"
import { type Usage, Usage as UsageSchema } from "@harness/protocol"
import { Effect, FastCheck as fc, Layer, Redacted, Schema } from "effect"
import { CATALOGUE_AS_OF, catalogue, listed } from "../../src/models/catalogue.ts"
import { Models } from "../../src/models/Models.ts"
import { type ModelDescription, over, pricing } from "../../src/providers/describe.ts"
import { ProviderSettings } from "../../src/providers/ProviderSettings.ts"

const key = Redacted.make("sk-secret-key")
const connected = { openaiApiKey: key, anthropicApiKey: key, googleApiKey: key }

const resolve = (name: string, settings: typeof ProviderSettings.Service = connected) =>
  Effect.flatMap(Models, (models) => models.resolve(name)).pipe(
    Effect.provide(Models.layer.pipe(Layer.provide(Layer.succeed(ProviderSettings, settings))))
  )

const usd = (model: ModelDescription, usage: Usage): number | undefined => pricing(model)?.(usage)

const everyModel = [...catalogue].flatMap(([provider, models]) =>
  Object.entries(models).map(([model, described]) => ({ name: `${provider}/${model}`, described }))
)

describe("the catalogue", () => {
  it("says its day", () => {
    assert.match(CATALOGUE_AS_OF, /^\d{4}-\d{2}-\d{2}$/)
  })

  it.effect("lists models that resolve, with what it says of them", () =>
    Effect.gen(function* () {
      for (const { name, described } of everyModel) {
        const model = yield* resolve(name)
        assert.strictEqual(model.contextWindow, described.contextWindow, name)
        assert.strictEqual(model.maxOutputTokens, described.maxOutputTokens, name)
        assert.isDefined(model.costUsd, name)
        assert.deepStrictEqual(model.thinkingLevels, described.thinking ?? model.thinkingLevels, name)
      }
    })
  )

  it("has no number that contradicts another", () => {
    for (const { name, described } of everyModel) {
      const { contextWindow = 0, longPrices, maxOutputTokens = 0, prices } = described
      assert.isAbove(contextWindow, 0, name)
      assert.isAtMost(maxOutputTokens, contextWindow, name)
      for (const at of [prices, longPrices]) {
        if (at === undefined) continue
        assert.isAbove(at.outputUsd, at.inputUsd, name)
        assert.isBelow(at.cacheReadUsd ?? 0, at.inputUsd, name)
        assert.isAtLeast(at.cacheWriteUsd ?? at.inputUsd, at.inputUsd, name)
      }
      if (longPrices !== undefined) assert.isBelow(longPrices.over, contextWindow, name)
    }
  })

  it("knows a model by its name and by the names of its versions, and no other", () => {
    const of = (name: string) => listed("openai", name).maxOutputTokens
    assert.strictEqual(of("gpt-4o"), 16_384)
    assert.strictEqual(of("gpt-4o-2024-08-06"), 16_384)
    assert.strictEqual(of("gpt-4o-2024-05-13"), 4_096)
    assert.strictEqual(of("gpt-5-chat-latest"), 16_384)
    for (const other of ["gpt-4o-audio-preview", "gpt-4oo", "gpt-5.9", "gpt", "", "constructor", "toString"]) {
      assert.deepStrictEqual(listed("openai", other), {}, other)
    }
    for (const nobody of ["demo", "mine", "constructor", "__proto__"]) {
      assert.deepStrictEqual(listed(nobody, "gpt-4o"), {}, nobody)
    }
    assert.deepStrictEqual(listed("anthropic", "claude-opus-4-5-20251101"), listed("anthropic", "claude-opus-4-5"))
    assert.deepStrictEqual(listed("anthropic", "claude-sonnet-4-20250514"), listed("anthropic", "claude-sonnet-4"))
    assert.deepStrictEqual(listed("google", "gemini-2.0-flash-001"), listed("google", "gemini-2.0-flash"))
  })

  it.effect("says nothing of a model it does not list, nor of the demo", () =>
    Effect.gen(function* () {
      for (const name of ["openai/somebodys-own", "demo/demo"]) {
        const model = yield* resolve(name)
        assert.notProperty(model, "contextWindow")
        assert.notProperty(model, "maxOutputTokens")
        assert.notProperty(model, "costUsd")
      }
    })
  )

  it.effect("holds for a name wherever the name is served, unless harness.json knows better", () =>
    Effect.gen(function* () {
      const settings = { openaiBaseUrl: "http://127.0.0.1:1/v1" }
      assert.strictEqual((yield* resolve("openai/gpt-4o", settings)).contextWindow, 128_000)
      const model = yield* resolve("openai/gpt-4o", {
        ...settings,
        models: { "openai/gpt-4o": { contextWindow: 4_096, prices: { inputUsd: 0, outputUsd: 0 } } }
      })
      assert.deepInclude(model, { contextWindow: 4_096, maxOutputTokens: 16_384 })
      assert.strictEqual(model.costUsd?.({ inputTokens: 5, cacheReadTokens: 5, outputTokens: 5 }), 0)
    })
  )

  it.effect("harness.json describes any model: a built-in one, one of its own, the demo", () =>
    Effect.gen(function* () {
      const models = {
        "openai/o3-mini": { takesImages: true, nativeJson: false, thinking: [] },
        "mine/m": { contextWindow: 4_096, maxOutputTokens: 512, nativeJson: true, thinking: ["high" as const] },
        "demo/demo": { contextWindow: 2_000, prices: { inputUsd: 1, outputUsd: 1 } }
      }
      const settings = { ...connected, models, custom: [{ id: "mine", baseUrl: "http://127.0.0.1:1/v1" }] }
      assert.deepInclude(yield* resolve("openai/o3-mini", settings), {
        takesImages: true,
        nativeJson: false,
        thinkingLevels: [],
        contextWindow: 200_000
      })
      assert.deepInclude(yield* resolve("mine/m", settings), {
        contextWindow: 4_096,
        maxOutputTokens: 512,
        nativeJson: true,
        thinkingLevels: ["high"]
      })
      const demo = yield* resolve("demo/demo", settings)
      assert.strictEqual(demo.contextWindow, 2_000)
      assert.strictEqual(demo.costUsd?.({ inputTokens: 500_000, outputTokens: 500_000 }), 1)
    })
  )
})

describe("what usage costs", () => {
  const model = { prices: { inputUsd: 2, outputUsd: 8, cacheReadUsd: 0.5, cacheWriteUsd: 2.5 } }
  const million = 1_000_000

  it("cached input is counted once, at its own price", () => {
    assert.strictEqual(usd(model, { inputTokens: million, outputTokens: 0 }), 2)
    assert.strictEqual(usd(model, { inputTokens: million, cacheReadTokens: million, outputTokens: 0 }), 0.5)
    assert.strictEqual(usd(model, { inputTokens: million, cacheWriteTokens: million, outputTokens: 0 }), 2.5)
    const mixed = { inputTokens: million, cacheReadTokens: 500_000, cacheWriteTokens: 250_000, outputTokens: million }
    assert.strictEqual(usd(model, mixed), 0.5 + 0.25 + 0.625 + 8)
  })

  it("without a price of its own it costs as other input", () => {
    const plain = { prices: { inputUsd: 2, outputUsd: 8 } }
    assert.strictEqual(usd(plain, { inputTokens: million, cacheReadTokens: 400_000, outputTokens: 0 }), 2)
  })

  it("reasoning is part of the output", () => {
    assert.strictEqual(usd(model, { inputTokens: 0, outputTokens: million, reasoningTokens: 900_000 }), 8)
  })

  it("a long request has its own prices, whole", () => {
    const tiered = { ...model, longPrices: { over: 200_000, inputUsd: 4, outputUsd: 12 } }
    assert.strictEqual(usd(tiered, { inputTokens: 200_000, outputTokens: 0 }), 0.4)
    assert.strictEqual(usd(tiered, { inputTokens: 250_000, cacheReadTokens: 250_000, outputTokens: million }), 13)
  })

  it("nobody counted, nobody knows", () => {
    assert.isUndefined(usd(model, {}))
    assert.isUndefined(usd(model, { inputTokens: 5 }))
    assert.isUndefined(usd({}, { inputTokens: 5, outputTokens: 5 }))
  })

  it("prices of two sources are never mixed", () => {
    const tiered = { ...model, contextWindow: 9, longPrices: { over: 1, inputUsd: 4, outputUsd: 12 } }
    const mine = { prices: { inputUsd: 1, outputUsd: 1 } }
    assert.deepStrictEqual(over(tiered, mine), { contextWindow: 9, ...mine })
    assert.deepStrictEqual(over(tiered, { contextWindow: 3 }), { ...tiered, contextWindow: 3 })
  })

  it("is a cost the wire takes, for any usage", () => {
    const count = fc.option(fc.nat({ max: 2_000_000 }), { nil: undefined })
    const fits = Schema.is(UsageSchema)
    fc.assert(
      fc.property(
        fc.constantFrom(...everyModel),
        count,
        count,
        count,
        count,
        ({ described }, input, output, read, write) => {
          const usage = Object.fromEntries(
            Object.entries({
              inputTokens: input,
              outputTokens: output,
              cacheReadTokens: read,
              cacheWriteTokens: write
            }).filter(([, tokens]) => tokens !== undefined)
          )
          const costUsd = usd(described, usage)
          return costUsd === undefined ? input === undefined || output === undefined : fits({ ...usage, costUsd })
        }
      )
    )
  })
})
