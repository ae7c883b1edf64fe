import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { callFaults } from "../kit/callLaws.ts"
import { callModel } from "../kit/callModel.ts"
import { makeCall } from "../kit/callPlay.ts"
import { AGENTS, type Kind, randomCall } from "../kit/callScript.ts"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { chance } from "../kit/random.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

const BATCHES = 10
const SIDE_BY_SIDE = 50
/** `CALL_SEED=17` makes that call alone. */
const alone = process.env["CALL_SEED"]

const kinds: readonly [Kind, ...ReadonlyArray<Kind>] = [
  "plain",
  "markup",
  "bargeIn",
  "wordless",
  "again",
  "tool",
  "lateTool",
  "draft",
  "drop",
  "inject",
  "noise",
  "generate",
  "prompt",
  "silence",
  "dtmf",
  "hangup",
  "transfer"
]

const voices: Record<(typeof AGENTS)[number], string> = {
  quiet: "  filler: []\n  greeting: Thanks for calling Acme.\n  speculation: off",
  eager: "  filler: []",
  filling:
    "  filler: [One moment., Still here.]\n  fillerAfterMillis: 60\n  fillerEveryMillis: 90\n  greeting: Good day."
}

const place = folders()
const { problems, script } = callModel()
let model: ScriptedModel
let server: Harness

beforeAll(async () => {
  mkdirSync(join(place.root, ".harness/agents"), { recursive: true })
  // A result that was lost with its line is not waited for any longer.
  const tools = "  tools: { look: { timeoutMillis: 6000 } }"
  for (const name of AGENTS) {
    const file = `---\ndescription: Answers the telephone.\ntools: []\nvoice:\n${tools}\n${voices[name]}\n---\nYou answer calls.\n`
    writeFileSync(join(place.root, `.harness/agents/${name}.md`), file)
  }
  model = await startScriptedModel(script)
  server = await startHarness({ ...place, openaiBaseUrl: model.url })
})

afterAll(async () => {
  await server.stop()
  await model.close()
  place.remove()
})

/** How many replies were heard, and how many of them to no end. */
const told = { heard: 0, cut: 0 }

/** One call, whole, and what it broke. */
const phoneCall = async (seed: number): Promise<ReadonlyArray<string>> => {
  const plan = randomCall(seed, chance(seed), kinds)
  const callSid = `r${seed}`
  const name = `CALL_SEED=${seed} (${plan.agent}: ${plan.kinds.join(", ")})`
  try {
    const made = await makeCall(server, callSid, plan)
    const { report } = made
    told.heard += report.heard.length
    told.cut += report.heard.filter(({ cut }) => cut).length
    const faults = await callFaults(server, callSid, made)
    if (alone !== undefined) for (const entry of report.timeline) console.log(JSON.stringify(entry))
    return faults.map((fault) => `${name}: ${fault}`)
  } catch (error) {
    return [`${name}: ${String(error)}`]
  }
}

const title = "L5, L7, L12: calls of barge-ins, drops, late results and drafts at random"

if (alone === undefined) {
  it(`${title}: of ${BATCHES * SIDE_BY_SIDE} each is history as it was heard`, { timeout: 900_000 }, async () => {
    const faults: Array<string> = []
    for (let batch = 0; batch < BATCHES; batch++) {
      const seeds = Array.from({ length: SIDE_BY_SIDE }, (_, n) => batch * SIDE_BY_SIDE + n)
      faults.push(...(await Promise.all(seeds.map(phoneCall))).flat())
    }
    expect(faults).toEqual([])
    expect(problems).toEqual([])
    // What was to be tried was tried.
    expect(told.cut).toBeGreaterThan(BATCHES * SIDE_BY_SIDE * 0.3)
    expect(told.heard).toBeGreaterThan(BATCHES * SIDE_BY_SIDE * 2)
  })
} else {
  it(`${title}: ${alone} is history as it was heard`, { timeout: 120_000 }, async () => {
    expect(await phoneCall(Number(alone))).toEqual([])
    expect(problems).toEqual([])
  })
}
