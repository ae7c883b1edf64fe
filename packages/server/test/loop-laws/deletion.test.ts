import { createRequire } from "node:module"
import { expect, it } from "vitest"
import { databaseFile, stored } from "../kit/database.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, makeGate, says } from "../kit/scriptedModel.ts"
import { summaries } from "../kit/summaries.ts"
import { readUntil, type WireEvent } from "../kit/wire.ts"
import { isRunning } from "../workspace/processes.ts"

const on = loopStage()
const { act, api, asksSession, open, place, prompt, questions, request, requests, server, session, waits } = on
const { summarise, summary } = summaries(on)

interface Rows {
  readonly prepare: (sql: string) => { readonly all: (...params: ReadonlyArray<unknown>) => ReadonlyArray<unknown> }
  readonly close: () => void
}
const require = createRequire(createRequire(import.meta.url).resolve("@effect/sql-sqlite-node"))
const Database: new (file: string, options: { readonly readonly: boolean }) => Rows = require("better-sqlite3")

/** Tables with rows of a session that say more than that it was: all but its stamp, and its log without content. */
const leftOf = (sessionId: string): ReadonlyArray<string> => {
  const database = new Database(databaseFile(place.data), { readonly: true })
  const tables = database
    .prepare(
      "SELECT m.name AS name, c.name AS id FROM sqlite_master m JOIN pragma_table_info(m.name) c " +
        "WHERE m.type = 'table' AND c.name IN ('session_id', 'child_session', 'parent_session')"
    )
    .all()
    .flatMap((row) =>
      typeof row === "object" && row !== null && "name" in row && "id" in row
        ? [[String(row.name), String(row.id)]]
        : []
    )
  const left = tables.flatMap(([name = "", id = ""]) => {
    if (name === "session") return []
    const content = name === "event" ? " AND body <> '' AND type <> 'deleted'" : ""
    const rows = database.prepare(`SELECT 1 FROM ${name} WHERE ${id} = ?${content}`).all(sessionId)
    return rows.length === 0 ? [] : [`${rows.length} in ${name}`]
  })
  database.close()
  return left
}

const remove = async (home: string) => (await api()).send("DELETE", `/servers/default${home}`)
const everything = async (path: string): Promise<ReadonlyArray<WireEvent>> =>
  readUntil((await api()).events(path), () => false)

/** Everything that reads a session says that it is gone. */
const isGone = async (name: string, turnId = "t"): Promise<void> => {
  const home = `/sessions/${name}`
  const { get } = await api()
  for (const path of [
    "",
    "/status",
    "/turns",
    `/turns/${turnId}`,
    "/history",
    "/permissions",
    "/grants",
    "/questions",
    "/compactions",
    "/queue",
    "/children",
    "/descendants/permissions",
    "/events"
  ]) {
    expect((await get(`${home}${path}`)).status, path).toBe(404)
  }
  expect(leftOf(name)).toEqual([])
}

/** Deletes a session, with its streams open, and sees each end with a frame that says so. */
const deleted = async (name: string, turnId = "t"): Promise<void> => {
  const home = `/sessions/${name}`
  const streams = [everything(`${home}/events?afterCursor=0`), everything(`${home}/turns/${turnId}/events`)]
  const waiting = (await api()).get(`${home}/turns/${turnId}`)
  expect((await waiting).status).toBe(200)
  const gone = await remove(home)
  expect(gone).toMatchObject({ status: 200, body: { sessionId: name, deletedAt: expect.any(String) } })
  const [ofSession, ofTurn] = await Promise.all(streams)
  expect(ofSession?.at(-1)).toMatchObject({ type: "session.deleted", data: { sessionId: name } })
  expect(ofTurn?.at(-1)).toMatchObject({ type: "turn.terminal", data: { turn: { turnId, state: "cancelled" } } })
  expect((await remove(home)).body).toEqual(gone.body)
  await isGone(name, turnId)
}

it("deleted while an answer streams: the request is cut, a client that waits is answered, the queue goes too", async () => {
  const home = await session("streams")
  const gate = makeGate()
  act("streams", () => [
    { type: "text", text: "so" },
    { type: "pause", gate }
  ])
  const waiter = (await api()).put(`${home}/turns/t?waitMillis=60000`, { content: "streams: go" })
  const { closed } = await request("streams", 0)
  await gate.isReached
  await prompt(home, "behind", "streams: never")
  await deleted("streams")
  expect((await closed).aborted).toBe(true)
  expect((await waiter).status).toBeLessThan(500)
  expect(requests("streams")).toHaveLength(1)
})

it("deleted while a tool runs: the process is gone", async () => {
  const home = await session("tool")
  act("tool", () => callsFor(["shell", { command: "echo $$; exec sleep 300" }]))
  await prompt(home, "t", "tool: run")
  const seen = await readUntil(
    (await api()).events(`${home}/turns/t/events`),
    ({ data, type }) => type === "turn.tool.activity" && /\d/.test(data.output ?? "")
  )
  const pid = Number(seen.at(-1)?.data.output)
  await deleted("tool")
  await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false)
})

it("deleted with a request, a question, an external call, a grant and a steer open: nothing of them is left", async () => {
  const look = { name: "look", description: "looks", inputSchema: { type: "object" } }
  const home = await asksSession("open", { externalTools: [look] })
  act("open", (_, step) =>
    step === 0
      ? callsFor(["shell", { command: "echo granted" }])
      : callsFor(
          ["shell", { command: "echo asked" }, "c0"],
          ["look", {}, "c1"],
          ["question", { questions: [{ question: "Why?", header: "Why", options: [], custom: true }] }, "c2"]
        )
  )
  await prompt(home, "t", "open: ask")
  await waits(home, "t")
  const [first] = await open(home)
  await on.reply(home, first?.requestId ?? "", "always")
  await waits(home, "t")
  expect([await open(home), await questions(home)].map(({ length }) => length)).toEqual([1, 1])
  expect((await (await api()).post(`${home}/turns/t/steer/s`, { content: "and hurry" })).status).toBe(202)
  const [asked] = await open(home)
  await deleted("open")
  for (const reply of ["once", "reject"]) {
    expect((await on.reply(home, asked?.requestId ?? "", reply)).status).toBe(404)
  }
  await server().crash()
  await isGone("open")
})

it("deleted with a summary under way and one behind it: the request is cut, and neither is left", async () => {
  const home = await session("summary")
  act("summary", () => says("ok"))
  for (const id of ["t0", "t1"]) {
    await prompt(home, id, `summary: ${"word ".repeat(50)}`)
    await on.ended(home, id)
  }
  summarise("summary", () => [{ type: "stall", headers: true }])
  for (const id of ["c", "d"]) expect((await (await api()).put(`${home}/compactions/${id}`)).status).toBe(202)
  const { closed } = await summary("summary", 0)
  expect((await remove(home)).status).toBe(200)
  expect((await closed).aborted).toBe(true)
  await isGone("summary", "t0")
})

it("deleted with children, near and far: they go with it, in one commit, and a fork stays", async () => {
  const home = await session("family", { permissions: [{ permission: "task", pattern: "*", action: "allow" }] })
  act("family", () =>
    callsFor(["task", { prompt: "family-kid: work" }], ["task", { prompt: "family-ask: work" }, "c1"])
  )
  act("family-kid", () => callsFor(["task", { prompt: "family-deep: work" }]))
  act("family-deep", () => [{ type: "stall", headers: true }])
  act("family-ask", () => callsFor(["shell", { command: "echo asked" }]))
  await prompt(home, "t", "family: go")
  const { closed } = await request("family-deep", 0)
  await stored(place.data, "SELECT 1 FROM permission_request WHERE state = 'open' AND session_id LIKE 'task-%'")
  await waits(home, "t")
  const children = async (of: string) =>
    (await (await api()).get(`/sessions/${of}/children`)).body.children.map(
      ({ sessionId }: { sessionId: string }) => sessionId
    )
  const near: ReadonlyArray<string> = await children("family")
  const far: ReadonlyArray<string> = (await Promise.all(near.map(children))).flat()
  expect([near.length, far.length]).toEqual([2, 1])
  expect((await (await api()).post(`${home}/forks/family-fork`, {})).status).toBe(201)
  const streams = [...near, ...far].map((id) => everything(`/sessions/${id}/events?afterCursor=0`))
  await deleted("family")
  for (const seen of await Promise.all(streams)) expect(seen.at(-1)?.type).toBe("session.deleted")
  expect((await closed).aborted).toBe(true)
  for (const id of [...near, ...far]) {
    expect((await (await api()).get(`/sessions/${id}`)).status).toBe(404)
    expect(leftOf(id)).toEqual([])
    expect((await remove(`/sessions/${id}`)).status).toBe(200)
  }
  expect((await (await api()).get("/sessions/family-fork")).status).toBe(200)
})

it("a child that is deleted by itself gives its parent's call a result, and the parent goes on", async () => {
  const home = await session("parent", { permissions: [{ permission: "task", pattern: "*", action: "allow" }] })
  act("parent", (_, step) => (step === 0 ? callsFor(["task", { prompt: "parent-kid: work" }]) : says("without it")))
  act("parent-kid", () => [{ type: "stall", headers: true }])
  await prompt(home, "t", "parent: go")
  await request("parent-kid", 0)
  await waits(home, "t")
  const { children } = (await (await api()).get(`${home}/children`)).body
  const [{ sessionId }] = children
  expect((await remove(`/sessions/${sessionId}`)).status).toBe(200)
  expect(await on.ended(home, "t")).toMatchObject({ state: "completed", finalText: "without it" })
  expect(leftOf(sessionId)).toEqual([])
  await on.sound("parent")
})
