import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import type { Step } from "../kit/scriptedSteps.ts"
import { stage } from "../kit/stage.ts"

const { act, api, ended, place, session } = stage()

writeFileSync(
  join(place.data, "harness.json"),
  JSON.stringify({
    models: { "openai/priced": { contextWindow: 4_096, inputUsd: 2, outputUsd: 8, cacheReadUsd: 0.5 } }
  })
)

const uses = (usage: Readonly<Record<string, unknown>>): ReadonlyArray<Step> => [
  { type: "text", text: "ok" },
  { type: "finish", reason: "stop" },
  { type: "usage", usage }
]

const costs = async (id: string, model: string, usage: Readonly<Record<string, unknown>>) => {
  const home = await session(id)
  act(id, () => uses(usage))
  await (await api()).put(`${home}/turns/t`, { content: `${id}: hello`, model })
  const { steps, usage: sum } = await ended(home, "t")
  expect(steps.map((step: { usage: unknown }) => step.usage)).toEqual([sum])
  return sum
}

it("a turn costs what harness.json says of its model: cached input at its own price", async () => {
  const usage = { prompt_tokens: 100_000, completion_tokens: 1_000, prompt_tokens_details: { cached_tokens: 40_000 } }
  expect(await costs("priced", "openai/priced", usage)).toMatchObject({ cacheReadTokens: 40_000, costUsd: 0.148 })
})

it("one of the catalogue costs what the catalogue says", async () => {
  const usage = { prompt_tokens: 100_000, completion_tokens: 1_000 }
  expect(await costs("listed", "openai/gpt-4o", usage)).toMatchObject({ costUsd: 0.26 })
})

it("nobody knows what any other costs, or what tokens cost that nobody counted", async () => {
  expect(
    await costs("unlisted", "openai/somebodys-own", { prompt_tokens: 5, completion_tokens: 5 })
  ).not.toHaveProperty("costUsd")
  expect(await costs("uncounted", "openai/gpt-4o", {})).toEqual({})
})
