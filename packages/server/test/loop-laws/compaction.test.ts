import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { callsOf, ends } from "../kit/asks.ts"
import { wholeLog } from "../kit/follower.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, fails, makeGate, type Step, says } from "../kit/scriptedModel.ts"
import { messagesOf, pages, textOf } from "../kit/stage.ts"
import { asksForSummary, summaries, summaryFor } from "../kit/summaries.ts"
import { readUntil, type WireEvent } from "../kit/wire.ts"

const on = loopStage()
const { act, api, ended, place, prompt, request, requests, server, session, sound } = on
const { afterwards, summarise, summarised, summary } = summaries(on)

const models = { "openai/tiny": { contextWindow: 4_096 }, "openai/small": { contextWindow: 16_384 } }
const settings = (limits: object) => writeFileSync(join(place.data, "harness.json"), JSON.stringify({ models, limits }))
settings({})

/** Runs with other limits. */
const withLimits = async (limits: object, run: () => Promise<unknown>): Promise<void> => {
  const apply = async (now: object) => {
    settings(now)
    expect((await (await api()).send("POST", "/runtime/reload")).status).toBe(200)
  }
  await apply(limits)
  await run()
  await apply({})
}

const STALLS: ReadonlyArray<Step> = [
  { type: "text", text: "It beg" },
  { type: "stall", headers: true }
]
const TOO_LONG = fails(400, {
  message: "This model's maximum context length is 4096 tokens.",
  code: "context_length_exceeded"
})

const history = async (home: string) => pages((await api()).get, `${home}/history`, "entries")
const compact = async (home: string, id: string) => {
  const { body, status } = await (await api()).put(`${home}/compactions/${id}`)
  expect(status).toBe(202)
  return body
}
const compactionOf = async (home: string, id: string) => (await (await api()).get(`${home}/compactions/${id}`)).body
/** The compaction's states as the session was told them, up to its last. */
const compacted = async (home: string, id: string): Promise<ReadonlyArray<string>> => {
  const seen = await readUntil((await api()).events(`${home}/events?afterCursor=0`), ({ data }) => {
    const { compactionId, state } = data.compaction ?? {}
    return compactionId === id && !["queued", "running"].includes(state)
  })
  return seen.flatMap(({ data }) => (data.compaction?.compactionId === id ? [data.compaction.state] : []))
}

/** A session that has talked a little. */
const talked = async (name: string, turns = 3, more: object = {}): Promise<string> => {
  const home = await session(name, more)
  for (let turn = 0; turn < turns; turn++) {
    await prompt(home, `t${turn}`, `${name}: ${"so many words ".repeat(20)}`)
    expect(await ended(home, `t${turn}`)).toMatchObject({ state: "completed" })
  }
  return home
}

/** Nothing runs, and the next prompt is answered. */
const settled = async (home: string, name: string): Promise<void> => {
  act("after", () => says("still here"))
  await prompt(home, "after", "after: go on", { model: "openai/scripted" })
  expect(await ended(home, "after")).toMatchObject({ state: "completed", finalText: "still here" })
  expect((await (await api()).get(`${home}/status`)).body).toMatchObject({ state: "idle", queued: 0 })
  await sound(name)
}

it("a window that prompt and tools alone fill ends the turn after few requests, and says so", async () => {
  const home = await talked("full", 4)
  const before = requests("full").length
  await prompt(home, "big", "full: and now", { model: "openai/tiny", options: { systemPrompt: "word ".repeat(3_100) } })
  const turn = await ended(home, "big")
  expect(turn).toMatchObject({ state: "failed", failure: { kind: "context_overflow", code: "context.overflow" } })
  expect(requests("full").length - before).toBe(0)
  expect(summarised("").length).toBeLessThanOrEqual(1)
  await settled(home, "full")
})

it("a provider that always answers `too long`, to summaries too, ends the turn after few requests", async () => {
  for (const [name, said] of [
    ["long", () => TOO_LONG],
    ["longer", () => summaryFor("longer")]
  ] as const) {
    const home = await talked(name, 4)
    const before = requests(name).length
    act(name, () => TOO_LONG)
    summarise(name, said)
    afterwards(name, () => TOO_LONG)
    await prompt(home, "big", `${name}: and now`)
    expect(await ended(home, "big")).toMatchObject({ state: "failed", failure: { kind: "context_overflow" } })
    expect(requests(name).length - before).toBeLessThanOrEqual(2)
    expect(summarised(name).length).toBe(1)
    await settled(home, name)
  }
})

it("a window that fills in the middle of a turn makes it summarise, no call is parted from its result, and the turn completes", async () => {
  const home = await session("fills", { model: "openai/small" })
  const STEPS = 12
  let step = 0
  const work = () =>
    step++ < STEPS
      ? callsFor(
          ...Array.from(
            { length: 1 + (step % 3) },
            (_, n) => ["shell", { command: `printf '${step}.${n} '; printf 'w%.0s ' $(seq 900)` }] as const
          )
        )
      : says("all done")
  act("fills", work)
  afterwards("fills", work)
  await prompt(home, "t", "fills: work")
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "all done" })
  expect(new Set(ends(turn))).toEqual(new Set(["completed"]))
  const { compactions } = (await (await api()).get(`${home}/compactions`)).body
  const done = compactions.filter(({ state }: { state: string }) => state === "completed")
  expect(done.length).toBeGreaterThan(0)
  for (const { boundary, tokensAfter, tokensBefore } of done) {
    expect(boundary).toEqual({ turnId: "t" })
    expect(tokensAfter).toBeLessThan(tokensBefore)
  }
  expect((await history(home))[0]).toMatchObject({ role: "system" })
  // Every part is still there to be read.
  expect(callsOf(turn)).toHaveLength(Array.from({ length: STEPS }, (_, n) => 1 + ((n + 1) % 3)).reduce((a, b) => a + b))
  await settled(home, "fills")
})

it("a summary that stalls ends in time, and the history is as it was", async () => {
  const home = await talked("slow")
  const before = await history(home)
  summarise("slow", () => STALLS)
  await withLimits({ compactionMillis: 200 }, async () => {
    await compact(home, "c")
    expect((await compacted(home, "c")).at(-1)).toBe("failed")
  })
  expect(await compactionOf(home, "c")).toMatchObject({ failure: { code: "compaction.timeout" } })
  expect((await (await summary("slow", 0)).closed).aborted).toBe(true)
  expect(await history(home)).toEqual(before)
  await settled(home, "slow")
})

it("a compaction cancelled while its summary stalls is over at once, and so is its request", async () => {
  const home = await talked("stop")
  const before = await history(home)
  summarise("stop", () => STALLS)
  await compact(home, "c")
  const { closed } = await summary("stop", 0)
  const answer = await (await api()).post(`${home}/compactions/c/cancel`)
  expect(answer).toMatchObject({ status: 200, body: { compactionId: "c", state: "cancelled" } })
  expect((await closed).aborted).toBe(true)
  expect((await (await api()).post(`${home}/compactions/c/cancel`)).body).toEqual(answer.body)
  expect(await history(home)).toEqual(before)
  await settled(home, "stop")
})

it("a turn cancelled while it summarises ends at once, and its compaction with it", async () => {
  const home = await talked("mid", 4)
  act("mid", () => TOO_LONG)
  summarise("mid", () => STALLS)
  await prompt(home, "big", "mid: and now")
  const { closed } = await summary("mid", 0)
  expect((await (await api()).post(`${home}/turns/big/cancel`)).status).toBe(202)
  expect(await ended(home, "big")).toMatchObject({ state: "cancelled" })
  expect((await closed).aborted).toBe(true)
  await settled(home, "mid")
  const { compactions } = (await (await api()).get(`${home}/compactions`)).body
  expect(compactions).toMatchObject([{ state: "failed", failure: { code: "compaction.interrupted" } }])
})

it("a kill while a summary is written leaves the history as it was, and the compaction failed", async () => {
  const home = await talked("kill")
  const before = await history(home)
  summarise("kill", (_, step) => (step === 0 ? STALLS : summaryFor("kill")))
  await compact(home, "c")
  await summary("kill", 0)
  await server().crash()
  expect(await compacted(home, "c")).toEqual(["queued", "running", "failed"])
  expect(await compactionOf(home, "c")).toMatchObject({ failure: { code: "compaction.interrupted", retryable: true } })
  expect(await history(home)).toEqual(before)
  await compact(home, "again")
  expect(await compacted(home, "again")).toEqual(["queued", "running", "completed"])
  expect((await history(home)).map(({ role }) => role)).toEqual(["system"])
  await settled(home, "kill")
})

it.each([
  ["good", "completed"],
  ["bad", "failed"]
] as const)("L1: prompts sent while a summary is written run after it, in order: %s, %s", async (word, end) => {
  const home = await talked(word)
  const gate = makeGate()
  summarise(word, () => [
    { type: "pause", gate },
    ...(end === "completed" ? summaryFor(word) : fails(400, { message: "no" }))
  ])
  await compact(home, "c")
  await summary(word, 0)
  for (const id of ["p1", "p2"]) {
    await prompt(home, id, `${word}-${id}: say it`)
    // The same prompt again is the same turn.
    expect((await prompt(home, id, `${word}-${id}: say it`)).body.disposition).toBe("deduplicated")
  }
  expect(requests(`${word}-p1`)).toEqual([])
  gate.open()
  for (const id of ["p1", "p2"]) expect(await ended(home, id)).toMatchObject({ state: "completed" })
  const rows = await wholeLog(await api(), word)
  const at = (found: (data: WireEvent["data"]) => boolean) => rows.findIndex(({ data }) => found(data))
  const started = (id: string) => at(({ turnId, type }) => turnId === id && type === "session.turn.started")
  const over = at(({ compaction }) => compaction?.state === end)
  expect(over).toBeGreaterThan(0)
  expect(started("p1")).toBeGreaterThan(over)
  expect(started("p2")).toBeGreaterThan(at(({ turn }) => turn?.turnId === "p1" && turn.state === "completed"))
  expect(requests(`${word}-p1`)).toHaveLength(1)
  expect(requests(`${word}-p2`)).toHaveLength(1)
  await settled(home, word)
})

it("twenty megabytes of output reach the model as their two ends with a note between, and the next turn works", async () => {
  const home = await session("huge")
  const outputs = {
    line: "head -c 20000000 /dev/zero | tr '\\0' x",
    lines: "yes 'a line of text' | head -c 20000000",
    binary: "head -c 20000000 /dev/urandom"
  }
  act("huge", (_, step) =>
    step === 0
      ? callsFor(
          ...Object.values(outputs).map(
            (command) => ["shell", { command: `printf BEGIN; ${command}; printf END` }] as const
          )
        )
      : says("seen")
  )
  await prompt(home, "t", "huge: look")
  const turn = await ended(home, "t")
  expect(ends(turn)).toEqual(["completed", "completed", "completed"])
  const stored = callsOf(turn).map(({ result }) => textOf({ role: "tool", content: result?.content }))
  const sent = messagesOf(await request("huge", 1)).flatMap((message) =>
    message.role === "tool" ? [textOf(message)] : []
  )
  const cut = /BEGIN[\s\S]*left out here; the whole output is in tool-output\/call_\w+\.txt[\s\S]*END/
  for (const texts of [stored, sent]) {
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(33_000)
    expect(texts).toEqual([
      expect.stringMatching(cut),
      expect.stringMatching(cut),
      expect.stringMatching(/^\[20000008 bytes of binary output, kept in tool-output\/call_\w+\.txt\]$/)
    ])
  }
  await settled(home, "huge")
})

it("a fork of a compacted session asks for no more than the original, and names nothing outside itself", async () => {
  const home = await talked("origin", 6)
  await compact(home, "c")
  expect((await compacted(home, "c")).at(-1)).toBe("completed")
  await prompt(home, "next", "origin: after the summary")
  await ended(home, "next")
  expect((await (await api()).post(`${home}/forks/copy`, {})).status).toBe(201)
  act("same", () => says("the same"))
  await prompt(home, "ask", "same: how much is it?")
  await ended(home, "ask")
  await prompt("/sessions/copy", "ask", "same: how much is it?")
  await ended("/sessions/copy", "ask")
  const [ofOrigin, ofCopy] = [await request("same", 0), await request("same", 1)]
  expect(messagesOf(ofCopy)).toEqual(messagesOf(ofOrigin))

  expect((await (await api()).send("DELETE", `/servers/default${home}`)).status).toBe(200)
  const entries = await history("/sessions/copy")
  expect(entries[0]).toMatchObject({ role: "system" })
  const { turns } = (await (await api()).get("/sessions/copy/turns?limit=500")).body
  const known = new Set<string>([
    ...turns.map(({ turnId }: { turnId: string }) => turnId),
    ...entries.map(({ entryId }) => entryId)
  ])
  const { compactions } = (await (await api()).get("/sessions/copy/compactions")).body
  const named = [
    ...entries.flatMap(({ turnId }) => (turnId === undefined ? [] : [turnId])),
    ...compactions.flatMap(({ boundary }: { boundary?: Record<string, string> }) => Object.values(boundary ?? {}))
  ]
  expect(named.filter((id) => !known.has(id))).toEqual([])
  await compact("/sessions/copy", "own")
  expect((await compacted("/sessions/copy", "own")).at(-1)).toBe("completed")
  await settled("/sessions/copy", "copy")
})

it("the compaction of a session that is deleted ends, and its request with it", async () => {
  const home = await talked("gone")
  summarise("gone", () => STALLS)
  await compact(home, "c")
  await compact(home, "behind")
  const asked = await summary("gone", 0)
  expect(asksForSummary(asked)).toBe(true)
  expect((await (await api()).send("DELETE", `/servers/default${home}`)).status).toBe(200)
  expect((await asked.closed).aborted).toBe(true)
  expect((await (await api()).get(`${home}/compactions/c`)).status).toBe(404)
  await server().crash()
  expect(summarised("gone")).toHaveLength(1)
})

it("a summary can be summarised, and a fork shows the last one that belongs to it", async () => {
  const home = await talked("twice", 2)
  await (await api()).put(`${home}/conversation/early`, { role: "user", content: "an early word" })
  for (const [id, turn] of [
    ["one", "u1"],
    ["two", "u2"],
    ["three", "u3"]
  ] as const) {
    summarise("twice", () => says(`twice: summary ${id}`))
    await compact(home, id)
    expect((await compacted(home, id)).at(-1)).toBe("completed")
    for (const each of [`${turn}a`, `${turn}b`]) {
      await prompt(home, each, `twice: then ${each}`)
      await ended(home, each)
    }
  }
  const shown = async (at: string) =>
    (await history(at)).map(({ content, role }) => `${role} ${textOf({ role, content })}`)
  const tail = (turn: string) => [`user twice: then ${turn}`, "assistant ok"]
  expect(await shown(home)).toEqual(["system twice: summary three", ...tail("u3a"), ...tail("u3b")])
  const fork = async (id: string, turnId: string) => {
    expect((await (await api()).post(`${home}/forks/${id}`, { through: { turnId } })).status).toBe(201)
    return shown(`/sessions/${id}`)
  }
  expect(await fork("twice-3", "u3b")).toEqual(await shown(home))
  expect(await fork("twice-2", "u2a")).toEqual(["system twice: summary two", ...tail("u2a")])
  expect(await fork("twice-1", "u1a")).toEqual(["system twice: summary one", ...tail("u1a")])
  expect(await fork("twice-0", "t0")).toHaveLength(2)
  expect((await fork("twice-all", "t1")).filter((line) => line.startsWith("system"))).toEqual([])
})
