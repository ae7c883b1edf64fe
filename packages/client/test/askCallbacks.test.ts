import { describe, expect, it } from "vitest"
import { createHarness } from "../src/Client.ts"
import { askServer } from "./kit/askServer.ts"
import { question, request } from "./kit/asks.ts"
import { onTurn, snapshot, turn } from "./kit/log.ts"

const quick = { first: 0, longest: 0 }
const done = snapshot(5, { state: "completed" })
const soon = () => new Promise<void>((next) => setImmediate(next))

describe("callbacks of createHarness", () => {
  it("answer what a turn asks, and are told when that is over", async () => {
    const server = askServer()
    server.open.permissions = [request(1), request(2)]
    server.open.questions = [question(3)]
    const harness = createHarness({ baseUrl: "http://fake.test", fetch: server.fake.fetch, retries: 0, backoff: quick })
    const over: Array<unknown> = []
    const replied = new Promise<void>((resolve) => {
      const wait = harness.turns.wait({
        ...turn,
        onAsk: async ({ requestId }, { signal }) => {
          if (requestId === request(1).requestId) return "once"
          return new Promise(() => signal.addEventListener("abort", () => over.push(signal.reason), { once: true }))
        },
        onQuestion: async () => {
          await soon()
          setImmediate(() => server.ofTurn.say(onTurn.terminal(done)))
          return "reject"
        }
      })
      resolve(wait.then(() => undefined))
    })
    while (!server.ofTurn.isOpen()) await soon()
    server.ofTurn.say(onTurn.opening(snapshot(2)))
    await replied
    expect(server.replies.toSorted()).toEqual(["reject que_3", 'reply req_1 {"reply":"once"}'])
    expect(over.length).toBe(1)
  })

  it("end the waiting with what they throw", async () => {
    const bug = new RangeError("a bug of the page")
    for (const late of [false, true]) {
      const server = askServer()
      server.open.permissions = [request(1)]
      const asking = createHarness({ baseUrl: "http://fake.test", fetch: server.fake.fetch, retries: 0 }).turns.wait({
        ...turn,
        onAsk: () => {
          if (late) return Promise.reject(bug)
          throw bug
        }
      })
      while (!server.ofTurn.isOpen()) await soon()
      server.ofTurn.say(onTurn.opening(snapshot(2)))
      await expect(asking).rejects.toBe(bug)
    }
  })
})
