import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { readUntil, wire } from "../kit/wire.ts"

const place = folders()
let server: Harness
beforeAll(async () => {
  server = await startHarness(place)
})
afterAll(async () => {
  await server.stop()
  place.remove()
})

/** Until a tool of turn `run` is running: its generation is over, and what is submitted now can only join the next. */
const aToolRuns = (namespace: string) =>
  readUntil(
    wire(server, namespace).events("/sessions/s/turns/run/events"),
    ({ data }) => data.turn?.parts.some((part: { state?: string }) => part.state === "running") === true
  )

const anyCommand = { permissions: [{ permission: "shell", pattern: "*", action: "allow" }] }

it("ids of a server stream never fall, also when its first news of a session is a preview", async () => {
  const { put, events } = wire(server, "previews")
  await put("/sessions/s", anyCommand)
  const command = "for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done"
  await put("/sessions/s/turns/t", { content: `use shell ${JSON.stringify({ command })}` })
  await readUntil(events("/sessions/s/events"), ({ type }) => type === "session.turn.tool.activity")
  const seen = await readUntil(events("/events"), ({ data }) => data.turn?.settledAt !== undefined)
  const named = seen.flatMap(({ id }) => (id === undefined ? [] : [id]))
  expect(seen.findIndex(({ type }) => type === "session.turn.tool.activity")).toBe(2)
  expect(named).toEqual(named.toSorted((a, b) => a - b))
  expect(Math.min(...named)).toBeGreaterThanOrEqual(seen[0]?.data.serverCursor)
})

it("a fork may end at a prompt that joined another turn, and at one that never ran", async () => {
  const { get, put, post, send, home } = wire(server, "forks")
  await put("/sessions/s", anyCommand)
  await put("/sessions/s/conversation/before", { role: "user", content: "before" })
  await put("/sessions/s/turns/run", { content: 'use shell {"command":"sleep 1"}' })
  await aToolRuns("forks")
  const steered = await put("/sessions/s/turns/joined", { content: "joined", whenBusy: "steer" })
  expect(steered.body.disposition).toBe("steered")
  await put("/sessions/s/turns/never", { content: "never" })
  expect((await send("DELETE", `${home}/sessions/s/queue/never`)).status).toBe(200)
  await put("/sessions/s/turns/run?waitMillis=20000", { content: 'use shell {"command":"sleep 1"}' })
  await put("/sessions/s/conversation/after", { role: "user", content: "after" })

  const forked = async (name: string, body: object) => {
    expect((await post(`/sessions/s/forks/${name}`, body)).status).toBe(201)
    const entries: ReadonlyArray<{ entryId: string; turnId?: string }> = (await get(`/sessions/${name}/history`)).body
      .entries
    return [...new Set(entries.map(({ entryId, turnId }) => turnId ?? entryId))]
  }
  expect(await forked("f1", { through: { turnId: "joined" } })).toEqual(["before", "run"])
  expect(await forked("f2", { turnId: "joined" })).toEqual(["before"])
  expect(await forked("f3", { through: { turnId: "never" } })).toEqual(["before", "run"])
  expect(await forked("f4", { turnId: "never" })).toEqual(["before", "run"])
})

it("a prompt that joined a turn at its last generation is answered in a turn of its own", async () => {
  const { get, put } = wire(server, "spent")
  await put("/sessions/s", anyCommand)
  const prompt = { content: 'use shell {"command":"sleep 1"}', options: { maxSteps: 1 } }
  await put("/sessions/s/turns/run", prompt)
  await aToolRuns("spent")
  const steered = await put("/sessions/s/turns/joined", { content: "answer me", whenBusy: "steer" })
  expect(steered.body.disposition).toBe("steered")
  expect((await put("/sessions/s/turns/run?waitMillis=20000", prompt)).body.stopReason).toBe("max_steps")
  await put("/sessions/s/turns/last?waitMillis=20000", { content: "last" })
  expect((await get("/sessions/s/turns/joined")).body).toMatchObject({ turnId: "joined", finalText: "answer me" })
})
