import { setTimeout as delay } from "node:timers/promises"
import { expect, it } from "vitest"
import { Fold } from "../kit/fold.ts"
import { planned, plannedModel } from "../kit/plannedModel.ts"
import { chance } from "../kit/random.ts"
import { stage } from "../kit/stage.ts"

const ROUNDS = 300
const SIDE_BY_SIDE = 6

const { problems, script } = plannedModel()
const { api, session } = stage({}, script)

it(`L4: ${ROUNDS} times a snapshot near a turn's end, folded with what its stream says then, is the turn`, {
  timeout: 600_000
}, async () => {
  const dice = chance(48)
  let states = 0
  // How long a turn takes here and now, so that the moments fall around its end.
  let lasts = 20
  const line = async (name: string) => {
    const home = await session(name)
    const { events, get, put } = await api()
    for (let round = 0; round < ROUNDS / SIDE_BY_SIDE; round++) {
      const id = `t${round}`
      const pace = dice.whole(0, 3)
      const content = planned({ id: `${name}-${id}`, calls: 0, words: 4, pace, command: "" })
      const began = performance.now()
      expect((await put(`${home}/turns/${id}`, { content })).status).toBe(202)
      await delay(lasts * (0.3 + dice.next()))
      const fold = new Fold()
      const byRevision = dice.next() < 0.7
      if (byRevision) {
        const { body } = await get(`${home}/turns/${id}`)
        fold.turns.set(id, body)
        states |= body.state === "running" ? 1 : body.state === "completed" ? 2 : 4
        for await (const event of events(`${home}/turns/${id}/events?afterRevision=${body.revision}`)) fold.take(event)
      } else {
        // A session's stream that starts live shows what runs; of a turn that has ended by then it has nothing to say.
        for await (const event of events(`${home}/events`)) {
          fold.take(event)
          if (fold.turns.get(id)?.state === "completed") break
          if (fold.turns.size === 0 && (await get(`${home}/turns/${id}`)).body.state === "completed") break
        }
      }
      lasts += (Math.min(performance.now() - began, 200) - lasts) / 10
      const { body } = await get(`${home}/turns/${id}`)
      const folded = fold.turns.get(id)
      if (byRevision || folded !== undefined) expect(folded).toEqual(body)
      expect(body).toMatchObject({ state: "completed", parts: [{ text: body.finalText, done: true }] })
      expect(fold.problems).toEqual([])
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, index) => line(`line-${index}`)))
  // The moments were near the end: some before it, some after it.
  expect(states & 3).toBe(3)
  expect(problems).toEqual([])
})
