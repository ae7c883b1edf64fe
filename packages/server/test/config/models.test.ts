import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { loadSettings } from "../../src/config/Config.ts"

/** Settings of a folder with this `harness.json`. */
const settingsOf = (content: unknown) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "harness-models-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ).pipe(
    Effect.tap((path) => Effect.sync(() => writeFileSync(join(path, "harness.json"), JSON.stringify(content)))),
    Effect.flatMap((path) => loadSettings({ cwd: path, home: path, env: {} }))
  )

const local = (...models: ReadonlyArray<unknown>) => ({
  providers: [{ id: "local", baseUrl: "http://127.0.0.1:1/v1", models }]
})

describe("models of harness.json", () => {
  it.scoped("are described under their provider, or by their name", () =>
    Effect.gen(function* () {
      const { models, providers } = yield* settingsOf({
        ...local("plain", { name: "a/b", contextWindow: 4096, thinking: ["low"] }, { name: "bare" }),
        models: {
          "openai/gpt-x": { maxOutputTokens: 100, takesImages: false, nativeJson: true, inputUsd: 0, outputUsd: 0.5 },
          "demo/demo": { contextWindow: 2000 },
          "local/plain": { inputUsd: 1, outputUsd: 2, cacheReadUsd: 0.1, cacheWriteUsd: 1.25 }
        }
      })
      assert.deepEqual(providers[0]?.models, ["plain", "a/b", "bare"])
      assert.deepEqual(models, {
        "local/a/b": { contextWindow: 4096, thinking: ["low"] },
        "local/bare": {},
        "openai/gpt-x": {
          maxOutputTokens: 100,
          takesImages: false,
          nativeJson: true,
          prices: { inputUsd: 0, outputUsd: 0.5 }
        },
        "demo/demo": { contextWindow: 2000 },
        "local/plain": { prices: { inputUsd: 1, outputUsd: 2, cacheReadUsd: 0.1, cacheWriteUsd: 1.25 } }
      })
    })
  )

  const refused: Record<string, readonly [unknown, string]> = {
    "a model without a name": [local({ contextWindow: 1 }), "providers.0.models.0.name"],
    "an empty name": [local("a", ""), "providers.0.models.1"],
    "a window that is no number": [
      local("a", { name: "b", contextWindow: "canary" }),
      "providers.0.models.1.contextWindow"
    ],
    "a window of nothing": [local({ name: "b", contextWindow: 0 }), "providers.0.models.0.contextWindow"],
    "half a token": [local({ name: "b", maxOutputTokens: 1.5 }), "providers.0.models.0.maxOutputTokens"],
    "a price below nothing": [local({ name: "b", inputUsd: -1, outputUsd: 1 }), "providers.0.models.0.inputUsd"],
    "one price alone": [local({ name: "b", inputUsd: 1 }), "providers.0.models.0.outputUsd"],
    "a cache's price alone": [{ models: { "openai/x": { cacheReadUsd: 1 } } }, "models.openai/x.inputUsd"],
    "an unknown field": [local({ name: "b", contextwindow: 1 }), "providers.0.models.0.contextwindow"],
    "a level nobody has": [{ models: { "openai/x": { thinking: ["canary"] } } }, "models.openai/x.thinking.0"],
    "an answer longer than the window": [
      { models: { "openai/x": { contextWindow: 10, maxOutputTokens: 11 } } },
      "models.openai/x.maxOutputTokens"
    ],
    "a model of a provider nobody knows": [{ models: { "canery/x": {} } }, "models.canery/x"],
    "a model without a provider": [{ models: { openai: {} } }, "models.openai"],
    "a provider without a model": [{ models: { "openai/": {} } }, "models.openai/"],
    "a model described twice": [{ ...local({ name: "b" }), models: { "local/b": {} } }, "models.local/b"]
  }
  for (const [what, [content, key]] of Object.entries(refused)) {
    it.scoped(`${what} stops the start, naming ${key}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(settingsOf(content))
        assert.deepInclude(error, { _tag: "SettingsError", key })
        assert.notInclude(error.message, "canary")
      })
    )
  }
})
