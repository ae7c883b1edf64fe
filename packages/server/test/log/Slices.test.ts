import { expect, it } from "vitest"
import { Slices, SPEAKING } from "../../src/log/Slices.ts"

/** Slices on a clock that stands still unless a task takes time, and what was done, in order. */
const sliced = () => {
  const done: Array<string> = []
  let now = 10_000
  const slices = new Slices(() => now)
  const add = (name: string, priority: number, millis = 0) =>
    slices.scheduleTask(() => {
      done.push(name)
      now += millis
    }, priority)
  /** What is at a socket when the loop turns. */
  const arrives = (name: string) => setImmediate(() => done.push(name))
  const settled = () =>
    new Promise<void>((resolve) => {
      const look = () => (slices.isBehind ? setImmediate(look) : resolve())
      setImmediate(look)
    })
  return { add, arrives, done, settled, slices }
}

it("what began first goes first, and what speaks before it", async () => {
  const { add, done, settled } = sliced()
  add("third", 9_300)
  add("first", 9_100)
  add("second", 9_200)
  add("word", SPEAKING)
  add("also third", 9_300)
  await settled()
  expect(done).toEqual(["word", "first", "second", "third", "also third"])
})

it("nobody waits behind older ones for ever", async () => {
  const { add, done, settled } = sliced()
  add("waits for five seconds", 5_000)
  add("older than that", 4_000)
  add("older still", 0)
  add("young", 5_001)
  await settled()
  expect(done).toEqual(["waits for five seconds", "older than that", "older still", "young"])
})

it("the loop turns between slices, and each slice does one at least", async () => {
  const { add, arrives, done, settled } = sliced()
  add("begins", 1, 40)
  add("begins too", 2, 40)
  arrives("socket")
  await settled()
  expect(done).toEqual(["begins", "socket", "begins too"])
})

it("what speaks while a slice lasts is said in it", async () => {
  const { done, settled, slices } = sliced()
  slices.scheduleTask(() => {
    done.push("begins")
    slices.scheduleTask(() => done.push("word"), SPEAKING)
  }, 1)
  slices.scheduleTask(() => done.push("begins too"), 2)
  await settled()
  expect(done).toEqual(["begins", "word", "begins too"])
})

it("short work of many is done in one slice", async () => {
  const { add, arrives, done, settled } = sliced()
  arrives("socket")
  for (const name of ["a", "b", "c"]) add(name, 1)
  await settled()
  expect(done).toEqual(["a", "b", "c", "socket"])
})
