import { setTimeout as delay } from "node:timers/promises"
import { expect, it } from "vitest"
import { holdWriteLock } from "../kit/database.ts"
import { Fold } from "../kit/fold.ts"
import { wholeLog } from "../kit/follower.ts"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { logProblems } from "../kit/logLaws.ts"
import { wait } from "../kit/plannedModel.ts"
import { makeGate, type Step, says } from "../kit/scriptedModel.ts"
import { pages, stage } from "../kit/stage.ts"
import { type Answer, readUntil, type WireEvent, wire } from "../kit/wire.ts"

const { act, api, ended, place, request, server, session } = stage()

const WORDS = Array.from({ length: 120 }, (_, n) => `${n}é `)

for (const seconds of [3, 8]) {
  it(`L1: another process holds the write lock for ${seconds} s in the middle of a turn, and nothing is lost`, async () => {
    const name = `locked-${seconds}`
    const home = await session(name)
    const pace = (seconds * 1_000 + 2_000) / WORDS.length
    const speech = WORDS.flatMap((text): ReadonlyArray<Step> => [{ type: "text", text }, wait(pace)])
    act(name, (_, step) => (step === 0 ? [...speech, { type: "finish", reason: "stop" }] : says("next")))
    const fold = new Fold()
    const { events, get, put } = await api()
    await put(`${home}/turns/t`, { content: `${name}: speak` })
    const during: Array<WireEvent> = []
    let locked = false
    const watching = (async () => {
      for await (const event of events(`${home}/events?afterCursor=0`)) {
        fold.take(event)
        if (locked) during.push(event)
        if (fold.turns.get("u")?.state === "completed") return
      }
    })()
    await request(name, 0)
    const lock = holdWriteLock(place.data)
    locked = true
    const submitted = put(`${home}/turns/u`, { content: "and then" })
    const left = delay(seconds * 1_000)
    // Whoever only reads is served meanwhile.
    expect((await get(`${home}/turns/t`)).body.state).toBe("running")
    await left
    locked = false
    lock.release()
    expect(await submitted).toMatchObject({ status: 202, body: { turnId: "u", disposition: "queued" } })
    const turn = await ended(home, "t")
    expect(turn).toMatchObject({ state: "completed", attempt: 1, finalText: WORDS.join("") })
    await watching
    expect(during.filter(({ id }) => id !== undefined)).toEqual([])
    expect(during.filter(({ type }) => type.endsWith("text.delta")).length).toBeGreaterThan(10)
    expect(fold.problems).toEqual([])
    for (const id of ["t", "u"]) expect(fold.turns.get(id)).toEqual((await get(`${home}/turns/${id}`)).body)
    expect(logProblems(await wholeLog(await api(), name))).toEqual([])
  })
}

it("L4: an answer and a steer that wait for the same lock, in whichever order, leave one order of parts", async () => {
  const home = await session("batch")
  for (let round = 0; round < 8; round++) {
    const id = `t${round}`
    const gate = makeGate()
    const first: ReadonlyArray<Step> = [{ type: "text", text: "one " }, { type: "pause", gate }, ...says("two")]
    act(`batch-${round}`, (_, step) => (step === 0 ? first : says("three")))
    const { get, post, put } = await api()
    await put(`${home}/turns/${id}`, { content: `batch-${round}: go` })
    await gate.isReached
    const lock = holdWriteLock(place.data)
    // The first to wait has a batch of its own; the two behind it share the next.
    const before = put(`${home}/conversation/e${round}`, { role: "assistant", content: "aside" })
    await get(home)
    gate.open()
    if (round % 2 === 0) await (await request(`batch-${round}`, 0)).closed
    for (let trip = 0; trip < 5; trip++) await get(home)
    const steered = post(`${home}/turns/${id}/steer/s${round}`, { content: "left" })
    for (let trip = 0; trip < 5; trip++) await get(home)
    lock.release()
    expect((await before).status).toBe(202)
    const turn = await ended(home, id)
    expect(turn.parts[0]).toMatchObject({ type: "text", text: "one two", done: true })
    expect([202, 409]).toContain((await steered).status)
    const fold = new Fold()
    const stream = (await api()).events(`${home}/turns/${id}/events?afterRevision=0`)
    for (const event of await readUntil(stream, ({ type }) => type === "turn.terminal")) fold.take(event)
    expect(fold.turns.get(id)).toEqual((await get(`${home}/turns/${id}`)).body)
  }
  expect(logProblems(await wholeLog(await api(), "batch"))).toEqual([])
  const entries = await pages((await api()).get, `${home}/history`, "entries")
  expect(entries.filter(({ role, turnId }) => role === "assistant" && turnId === "t0")).not.toEqual([])
})

it("a second server on the same data refuses, and says who writes", async () => {
  const { pid } = await server().up()
  const second = startHarness({ ...place })
  await expect(second).rejects.toThrow(new RegExp(`ended with 1: .*process ${pid} on .* is writing`, "s"))
  const home = await session("still-here")
  expect((await (await api()).put(`${home}/turns/t?waitMillis=20000`, { content: "hello" })).body.state).toBe(
    "completed"
  )
  // The dead hold nothing: the next one starts at once.
  await server().crash()
  expect((await (await api()).get(home)).status).toBe(200)
})

it("of two servers that start on an empty folder, one writes, and the other says so", async () => {
  const empty = folders()
  const [one, other] = await Promise.all([startHarness(empty), startHarness(empty)])
  // Both make the database at the same moment: who finds it locked is told to ask again.
  const create = async (asked: Harness): Promise<Answer> => {
    const answer = await wire(asked).put("/sessions/s")
    return answer.status === 503 && answer.body.code === "storage.busy" ? create(asked) : answer
  }
  try {
    const answers = await Promise.all([create(one), create(other)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: "writer.held", retryable: true })
  } finally {
    await Promise.all([one.stop(), other.stop()])
    empty.remove()
  }
})
