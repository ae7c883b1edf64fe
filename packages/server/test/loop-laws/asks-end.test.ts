import { expect, it } from "vitest"
import { callsOf, count, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"
import { readUntil } from "../kit/wire.ts"

const { act, api, asksSession, ended, open, prompt, ran, reply, request, requests, server, soon, sound, told, waits } =
  loopStage()

const asksFor = (name: string, ...calls: ReadonlyArray<string>) =>
  act(name, (_, step) =>
    step === 0
      ? callsFor(...calls.map((call, n) => ["shell", { command: count(call) }, `c${n}`] as const))
      : says("done")
  )

/** Asks for two calls, and waits for a person. */
const waiting = async (name: string) => {
  const home = await asksSession(name)
  asksFor(name, "a", "b")
  await prompt(home, "t", `${name}: count`)
  await waits(home, "t")
  return { home, asked: await open(home) }
}

/** After the turn has ended some other way: its requests are closed, told, and nothing came of them. */
const closed = async (name: string, stopReason: string, asked: Awaited<ReturnType<typeof open>>) => {
  const home = `/sessions/${name}`
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "cancelled", stopReason })
  expect(ends(turn)).toEqual(["cancelled call.not_run", "cancelled call.not_run"])
  expect(await open(home)).toEqual([])
  const told_ = await told(name, "approval.resolved")
  expect(told_.map(({ requestId }) => requestId).sort()).toEqual(asked.map(({ requestId }) => requestId).sort())
  for (const { reply } of told_) expect(reply).toBe("reject")
  const [first] = asked
  expect((await reply(home, first?.requestId ?? "", "reject")).status).toBe(200)
  expect(await reply(home, first?.requestId ?? "", "once")).toMatchObject({
    status: 409,
    body: { code: "permission.settled", details: { reply: "reject" } }
  })
  expect(ran(name)).toEqual([])
  await sound(name)
}

it("a cancelled turn closes its requests by event; the next prompt is with the model within a second, and the old turn is over", async () => {
  const { asked, home } = await waiting("cancel")
  const second = await soon()
  const began = performance.now()
  const cancelled = await (await api()).post(`${home}/turns/t/cancel`)
  expect(cancelled).toMatchObject({ status: 202, body: { turnId: "t" } })
  await prompt(home, "next", "after-cancel: go on")
  const next = await request("after-cancel", 0)
  expect(next.at - began).toBeLessThan(second)
  expect(await ended(home, "next")).toMatchObject({ state: "completed" })
  expect((await (await api()).post(`${home}/turns/t/cancel`)).body).toEqual({ stopping: false, turnId: "t" })
  await closed("cancel", "cancelled", asked)
  expect(requests("cancel")).toHaveLength(1)
})

it("an interrupting prompt does the same, and starts behind the old turn's end", async () => {
  const { asked, home } = await waiting("interrupt")
  const receipt = await prompt(home, "next", "after-interrupt: go on", { whenBusy: "interrupt" })
  expect(receipt.body).toMatchObject({ disposition: "queued", position: 1, activeTurnId: "t" })
  expect(await ended(home, "next")).toMatchObject({ state: "completed" })
  await closed("interrupt", "interrupted", asked)
  expect(requests("interrupt")).toHaveLength(1)
  const events = await readUntil(
    (await api()).events(`${home}/events?afterCursor=0`),
    ({ type }) => type === "session.cursor"
  )
  const end = events.findIndex(({ data }) => data.turnId === "t" && data.turn?.state === "cancelled")
  const start = events.findIndex(({ data, type }) => data.turnId === "next" && type === "session.turn.started")
  expect(start).toBeGreaterThan(end)
})

it("a session with an open request can be deleted: its stream ends, its requests are gone, again is fine", async () => {
  const { home } = await waiting("delete")
  await prompt(home, "behind", "delete: never")
  const stream = readUntil((await api()).events(`${home}/events?afterCursor=0`), () => false)
  const gone = await (await api()).send("DELETE", `/servers/default${home}`)
  expect(gone.status).toBe(200)
  const seen = await stream
  expect(seen.at(-1)?.type).toBe("session.deleted")
  const resolved = seen.filter(({ type }) => type === "session.turn.approval.resolved")
  expect(resolved.map(({ data }) => data.reply)).toEqual(["reject", "reject"])
  for (const path of ["", "/permissions", "/turns/t", "/history"]) {
    expect((await (await api()).get(`${home}${path}`)).status).toBe(404)
  }
  expect((await (await api()).send("DELETE", `/servers/default${home}`)).body).toEqual(gone.body)
  expect(
    (await (await api()).get("/sessions")).body.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)
  ).not.toContain("delete")
  expect(requests("delete")).toHaveLength(1)
  expect(ran("delete")).toEqual([])
})

it("a request outlives the process under its id, and a yes that was acknowledged does too", async () => {
  const { asked, home } = await waiting("restart")
  const [call] = callsOf(await waits(home, "t"))
  await server().crash()
  expect(await open(home)).toEqual(asked)
  expect((await (await api()).get(`${home}/status`)).body).toMatchObject({ state: "waiting", queued: 0 })
  const yes = asked.find(({ callId }) => callId === call?.callId)?.requestId ?? ""
  expect((await reply(home, yes, "once")).status).toBe(200)
  await server().crash()
  // Acknowledged, so the same again names the same.
  expect(await reply(home, yes, "once")).toMatchObject({ status: 200, body: { reply: "once" } })
  const [left] = await open(home)
  expect(left).toEqual(asked.find(({ requestId }) => requestId !== yes))
  await reply(home, left?.requestId ?? "", "reject", "no more")
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "done" })
  // The yes may have come to a run just before the kill; it is never one more.
  const [first, second] = ends(turn)
  expect(["completed", "interrupted call.interrupted"]).toContain(first)
  expect(second).toBe("rejected permission.rejected")
  expect(ran("restart").length).toBeLessThanOrEqual(1)
  if (first === "completed") expect(ran("restart")).toEqual(["a"])
  expect(requests("restart")).toHaveLength(2)
  await sound("restart")
})

it("prompts accepted while a turn waits run after it in order; one can be withdrawn meanwhile", async () => {
  const { asked, home } = await waiting("queue")
  for (const id of ["q1", "q2", "q3"]) {
    const { body } = await prompt(home, id, "behind-queue: go")
    expect(body).toMatchObject({ disposition: "queued", activeTurnId: "t" })
  }
  expect((await (await api()).send("DELETE", `/servers/default${home}/queue/q2`)).status).toBe(200)
  for (const { requestId } of asked) await reply(home, requestId, "reject")
  expect(await ended(home, "t")).toMatchObject({ state: "completed" })
  expect(await ended(home, "q3")).toMatchObject({ state: "completed" })
  const { turns } = (await (await api()).get(`${home}/turns`)).body
  expect(turns.map(({ turnId, state }: { turnId: string; state: string }) => `${turnId} ${state}`)).toEqual([
    "t completed",
    "q1 completed",
    "q2 cancelled",
    "q3 completed"
  ])
  await sound("queue")
})

it("a steer reaches a waiting turn when it goes on, behind the results", async () => {
  const { asked, home } = await waiting("steer")
  const steered = await (await api()).post(`${home}/turns/t/steer/s1`, { content: "and be quick" })
  expect(steered.status).toBe(202)
  const alias = await prompt(home, "joins", "and quiet", { whenBusy: "steer" })
  expect(alias.body).toMatchObject({ disposition: "steered", activeTurnId: "t" })
  expect((await waits(home, "t")).state).toBe("waiting")
  for (const { requestId } of asked) await reply(home, requestId, "once")
  expect(await ended(home, "t")).toMatchObject({ state: "completed" })
  const { body } = await request("steer", 1)
  const said = JSON.parse(JSON.stringify(body)).messages.slice(-4)
  expect(said.map(({ role }: { role: string }) => role)).toEqual(["tool", "tool", "user", "user"])
  expect([...ran("steer")].sort()).toEqual(["a", "b"])
  await sound("steer")
})
