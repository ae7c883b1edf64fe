import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { countedLines, counter } from "../kit/asks.ts"
import { Happenings, type Mortal, mortal } from "../kit/crash.ts"
import { folders } from "../kit/harness.ts"
import { chance } from "../kit/random.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"
import { treeFaults } from "../kit/treeLaws.ts"
import { treeModel } from "../kit/treeModel.ts"
import { treeUser } from "../kit/treeUser.ts"
import { watchTrees } from "../kit/treeWatch.ts"

const BATCHES = 5
const SIDE_BY_SIDE = 40
/** Of a batch, from and to. */
const DEATHS = [2, 3] as const
/** `SCHEDULE=17` runs that schedule alone, side by side with itself. */
const alone = process.env["SCHEDULE"]

const place = folders()
const facts = new Happenings()
const { problems, script } = treeModel(facts.happen)
let model: ScriptedModel
let server: Mortal
let trees: ReturnType<typeof watchTrees>
beforeAll(async () => {
  model = await startScriptedModel(script)
  server = await mortal({ ...place, openaiBaseUrl: model.url })
  trees = watchTrees(server, facts.happen)
})
afterAll(async () => {
  await trees.leave()
  await server.stop()
  await model.close()
  place.remove()
})

/** How many sessions each schedule's tree had. */
const sizes: Array<number> = []

/** One schedule, whole: a tree of sessions, things done to it at random, and what it then breaks. */
const schedule = async (root: string, seed: number) => {
  const dice = chance(seed)
  const folder = join(place.root, root)
  mkdirSync(folder)
  counter(folder)
  const tree = trees.tree(root)
  const user = treeUser({ root, server, dice, tree })
  const actions = dice.whole(5, 12)
  try {
    await user.begin()
    for (let action = 0; action < actions; action++) await user.act()
    await user.finish()
  } catch (error) {
    return [`schedule ${seed}: ${String(error)}`]
  }
  const { faults, stands } = await treeFaults(server, user, countedLines(folder))
  sizes.push(stands.length)
  return faults.map((fault) => `schedule ${seed}: ${fault}`)
}

/** Schedules side by side on a server that dies at random moments of theirs. */
const batch = async (seeds: ReadonlyArray<number>, name: (seed: number, place: number) => string) => {
  const dice = chance(seeds[0] ?? 0)
  let over = false
  const dying = async () => {
    for (let left = dice.whole(...DEATHS); left > 0; left--) {
      await facts.after(dice.whole(20, 600))
      if (!over) await server.crash()
    }
  }
  dying()
  const faults = await Promise.all(seeds.map((seed, place) => schedule(name(seed, place), seed)))
  over = true
  await server.up()
  return [...faults.flat(), ...trees.problems]
}

const title =
  "L1 to L7: prompts, steers, cancels, replies, deliveries and deaths at random over trees of three sessions"

if (alone === undefined) {
  it(`${title}: ${BATCHES * SIDE_BY_SIDE} schedules keep every law`, { timeout: 1_800_000 }, async () => {
    for (let number = 0; number < BATCHES; number++) {
      const seeds = Array.from({ length: SIDE_BY_SIDE }, (_, n) => number * SIDE_BY_SIDE + n)
      expect(await batch(seeds, (seed) => `s${seed}`)).toEqual([])
    }
    expect(problems).toEqual([])
    // What was to be tried was tried.
    expect(sizes.filter((size) => size >= 3).length).toBeGreaterThan((BATCHES * SIDE_BY_SIDE) / 2)
    expect(server.deaths.length).toBeGreaterThanOrEqual(BATCHES)
    for (const asked of model.requests) await asked.closed
  })
} else {
  it(`${title}: schedule ${alone} keeps every law`, { timeout: 1_800_000 }, async () => {
    const seeds = Array.from({ length: SIDE_BY_SIDE }, () => Number(alone))
    expect(await batch(seeds, (seed, place) => `s${seed}-${place}`)).toEqual([])
    expect(problems).toEqual([])
  })
}
