import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { wholeLog } from "../kit/follower.ts"
import { historyProblems, logProblems } from "../kit/logLaws.ts"
import { until } from "../kit/process.ts"
import { assertValidRequest, callsFor, fails, makeGate, type Step, says } from "../kit/scriptedModel.ts"
import { messagesOf, pages, stage, textOf } from "../kit/stage.ts"
import type { Answer } from "../kit/wire.ts"

const { act, api, ended, place, request, requests, server, session } = stage()

type Part = Answer["body"]

/** Everything asked so far was valid, the next prompt gets a valid request and an answer, and the records are sound. */
const goesOn = async (name: string) => {
  const { get, put } = await api()
  const next = await put(`/sessions/${name}/turns/next?waitMillis=20000`, { content: `${name}: and now` })
  expect(next.body).toMatchObject({ state: "completed", finalText: "fine" })
  for (const { body } of requests(name)) assertValidRequest(body)
  expect(historyProblems(await pages(get, `/sessions/${name}/history`, "entries"))).toEqual([])
  expect(logProblems(await wholeLog(await api(), name))).toEqual([])
}

const file = (name: string, leaf: string) => join(place.root, name, leaf)
const appears = (name: string, leaf: string) => until(() => existsSync(file(name, leaf)))
/** Leaves a file, and stays while its folder is there. */
const HANGS = "echo > began; while [ -e began ]; do sleep 0.1; done"

/** A call whose arguments have only begun to come. */
const halfCall: Step = {
  type: "event",
  data: {
    id: "chatcmpl-scripted",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "scripted",
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [{ index: 0, id: "call_0", type: "function", function: { name: "shell", arguments: '{"comm' } }]
        },
        finish_reason: null
      }
    ]
  }
}

type Cut = "cancel" | "kill"
const cut = async (how: Cut, home: string) => {
  if (how === "kill") await server().crash()
  else expect((await (await api()).post(`${home}/turns/t/cancel`)).status).toBe(202)
  const turn = await ended(home, "t")
  expect(turn.state).toBe(how === "kill" ? "completed" : "cancelled")
  return turn
}

for (const how of ["cancel", "kill"] as const) {
  it(`L7: a ${how} while arguments come leaves no call behind`, async () => {
    const name = `args-${how}`
    const home = await session(name)
    const gate = makeGate()
    act(name, (_, step) =>
      step === 0 ? [{ type: "text", text: "Let me see." }, halfCall, { type: "pause", gate }] : says("fine")
    )
    await (await api()).put(`${home}/turns/t`, { content: `${name}: go` })
    await gate.isReached
    const turn = await cut(how, home)
    expect(turn.parts.filter(({ type }: Part) => type === "tool")).toEqual([])
    await goesOn(name)
  })

  it(`L7: a ${how} while a tool runs leaves its call one result`, async () => {
    const name = `tool-${how}`
    const home = await session(name)
    act(name, (_, step) => (step === 0 ? callsFor(["shell", { command: HANGS }]) : says("fine")))
    await (await api()).put(`${home}/turns/t`, { content: `${name}: go` })
    await appears(name, "began")
    const turn = await cut(how, home)
    expect(turn.parts[0]).toMatchObject({
      state: how === "kill" ? "interrupted" : "cancelled",
      result: { isError: true }
    })
    await goesOn(name)
  })

  it(`L7: a ${how} after one of two results keeps that one, and gives the other call its own`, async () => {
    const name = `two-${how}`
    const home = await session(name)
    const two = callsFor(["shell", { command: "echo done" }], ["shell", { command: HANGS }])
    act(name, (_, step) => (step === 0 ? two : says("fine")))
    const { events, put } = await api()
    await put(`${home}/turns/t`, { content: `${name}: go` })
    await appears(name, "began")
    for await (const { type } of events(`${home}/events?afterCursor=0`)) {
      if (type === "session.turn.tool.completed") break
    }
    const turn = await cut(how, home)
    expect(turn.parts.map(({ state }: Part) => state).slice(0, 2)).toEqual([
      "completed",
      how === "kill" ? "interrupted" : "cancelled"
    ])
    await goesOn(name)
  })
}

it("L7: a connection reset while arguments come drops the call, keeps the text, and goes on once", async () => {
  const home = await session("reset")
  act("reset", (_, step) =>
    step === 0
      ? [{ type: "text", text: "Let me see" }, halfCall, { type: "reset" }]
      : says(step === 1 ? ", well." : "fine")
  )
  await (await api()).put(`${home}/turns/t`, { content: "reset: go" })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "Let me see, well." })
  expect(turn.parts.map(({ code, type }: Part) => code ?? type)).toEqual(["text", "provider.continued"])
  await goesOn("reset")
})

it("a second reset in one turn fails it, and what was said stays", async () => {
  const home = await session("resets")
  const half = (text: string): ReadonlyArray<Step> => [{ type: "text", text }, { type: "reset" }]
  act("resets", (_, step) => [half("one "), half("two "), says("fine")][step] ?? says("fine"))
  await (await api()).put(`${home}/turns/t`, { content: "resets: go" })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "failed", stopReason: "error", failure: { kind: "transient", retryable: true } })
  expect(turn.parts[0]).toMatchObject({ type: "text", text: "one two ", done: true })
  await goesOn("resets")
  expect(messagesOf(await request("resets", 2)).map(textOf)).toEqual(["resets: go", "one two ", "resets: and now"])
})

it("L6: a refusal before the first word is retried, visibly, and no tool runs again for it", async () => {
  const home = await session("retry")
  const busy = fails(429, { message: "slow down" }, { "retry-after": "0" })
  const broken = fails(500, { message: "oops" })
  act("retry", (_, step) =>
    step === 0 ? callsFor(["shell", { command: "echo ran >> ran.txt" }]) : ([busy, broken][step - 1] ?? says("fine"))
  )
  await (await api()).put(`${home}/turns/t`, { content: "retry: go" })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "fine" })
  expect(turn.parts.map(({ code, type }: Part) => code ?? type)).toEqual([
    "tool",
    "provider.retry",
    "provider.retry",
    "text"
  ])
  expect(turn.steps).toHaveLength(2)
  expect(requests("retry")).toHaveLength(4)
  await goesOn("retry")
})

it("a provider that refuses for good fails the turn at once, and the next prompt is answered", async () => {
  const home = await session("refused")
  act("refused", (_, step) => (step === 0 ? fails(400, { message: "no such thing" }) : says("fine")))
  await (await api()).put(`${home}/turns/t`, { content: "refused: go" })
  expect(await ended(home, "t")).toMatchObject({ state: "failed", failure: { kind: "permanent", retryable: false } })
  expect(requests("refused")).toHaveLength(1)
  await goesOn("refused")
})

it("a provider that went silent is let go by a cancel at once", async () => {
  const home = await session("silent")
  act("silent", (_, step) =>
    step === 0
      ? [
          { type: "text", text: "hm" },
          { type: "stall", headers: true }
        ]
      : says("fine")
  )
  const { events, post, put } = await api()
  await put(`${home}/turns/t`, { content: "silent: go" })
  for await (const { type } of events(`${home}/events?afterCursor=0`)) if (type.endsWith("delta")) break
  await post(`${home}/turns/t/cancel`)
  expect((await (await request("silent", 0)).closed).aborted).toBe(true)
  expect(await ended(home, "t")).toMatchObject({ state: "cancelled", parts: [{ text: "hm" }] })
  await goesOn("silent")
})

it("L7: a steer that comes between calls and their results stands behind all of them; an entry, behind the turn", async () => {
  const home = await session("between")
  const waits = "touch began; while [ ! -e go ]; do sleep 0.05; done"
  const three = callsFor(["shell", { command: "echo one" }], ["shell", { command: waits }], ["list", { path: "." }])
  act("between", (_, step) => (step === 0 ? three : says(step === 1 ? "seen" : "fine")))
  const { get, post, put } = await api()
  await put(`${home}/turns/t`, { content: "between: go" })
  await appears("between", "began")
  expect((await post(`${home}/turns/t/steer/s`, { content: "to the left" })).status).toBe(202)
  expect((await put(`${home}/conversation/e`, { role: "user", content: "by the way" })).status).toBe(202)
  writeFileSync(file("between", "go"), "")
  expect(await ended(home, "t")).toMatchObject({ state: "completed", finalText: "seen" })
  const roles = messagesOf(await request("between", 1)).map(({ role }) => role)
  expect(roles).toEqual(["user", "assistant", "tool", "tool", "tool", "user"])
  expect(textOf(messagesOf(await request("between", 1)).at(-1) ?? { role: "", content: "" })).toBe("to the left")
  await goesOn("between")
  const entries = await pages(get, `${home}/history`, "entries")
  const texts = entries.filter(({ role }) => role !== "tool").map(({ content }) => content.at(0)?.text)
  expect(texts).toEqual(["between: go", undefined, "to the left", "seen", "by the way", "between: and now", "fine"])
})

it("a model that only ever calls is ended at maxSteps, completed, with a notice", async () => {
  const home = await session("steps")
  act("steps", (_, step) => (step < 3 ? callsFor(["list", { path: "." }]) : says("fine")))
  await (await api()).put(`${home}/turns/t`, { content: "steps: go", options: { maxSteps: 3 } })
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", stopReason: "max_steps" })
  expect(turn.parts.map(({ code, type }: Part) => code ?? type)).toEqual(["tool", "tool", "tool", "max_steps"])
  await goesOn("steps")
})
