import { describe, expect, it } from "vitest"
import { callsOf, count, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"
import { isSigned, json, type Reply, receiverForFile, silence, status } from "./receiver.ts"

const on = loopStage({ HARNESS_ALLOW_PRIVATE_URLS: "1" })
const { act, api, asksSession, deliver, ended, prompt, ran, request, server, sound, waits } = on
const there = receiverForFile()

/** Sets a hook that answers like this, for sessions of one name alone: all tests share a server. */
const hook = async (id: string, point: string, reply: Reply, more: object = {}) => {
  there.on(`/${id}`, (response, asked) =>
    asked.json.sessionId === id.split(".")[0] ? reply(response, asked) : status(204)(response, asked)
  )
  const put = await (await api()).put(`/hooks/${id}`, { point, url: there.url(`/${id}`), ...more })
  expect(put.status).toBe(200)
  return put.body
}
/** What a hook was asked about its own session. */
const asked = (id: string) => there.came(`/${id}`).filter(({ json }) => json.sessionId === id.split(".")[0])

/** A session whose model runs one counted command, then says "done". */
const counting = async (name: string, more: object = {}) => {
  const home = await asksSession(name, {
    permissions: [{ permission: "shell", pattern: "*", action: "allow" }],
    ...more
  })
  act(name, (_, step) => (step === 0 ? callsFor(["shell", { command: count("one") }]) : says("done")))
  return home
}

/** The result of the first call as the model was told it. */
const toldResult = async (name: string) => {
  const result = messagesOf(await request(name, 1)).find(({ role }) => role === "tool")
  return textOf(result ?? { role: "", content: "" })
}

describe("hooks over HTTP", () => {
  it("are set before any session, listed without secrets, and taken away twice", async () => {
    const { get, put, send } = await api("early")
    expect((await get("/hooks")).body).toEqual({ hooks: [], next: null })
    expect(await send("DELETE", "/servers/early/hooks/gate")).toMatchObject({ status: 200, body: { removed: false } })
    const first = await put("/hooks/gate", { point: "pre-tool", url: "https://hooks.example/gate" })
    expect(first).toMatchObject({ status: 200, body: { hookId: "gate", priority: 0, timeoutMillis: 5000 } })
    expect(first.body.secret).toMatch(/^whsec_/)
    const again = await put("/hooks/gate", { point: "pre-tool", url: "https://hooks.example/gate" })
    expect(again.body).not.toHaveProperty("secret")
    expect((await get("/hooks")).body.hooks).toEqual([again.body])
    expect((await send("DELETE", "/servers/early/hooks/gate")).body).toEqual({ hookId: "gate", removed: true })
    expect((await send("DELETE", "/servers/early/hooks/gate")).body).toEqual({ hookId: "gate", removed: false })
  })

  it("what cannot be meant is a 400 that names it", async () => {
    const { put } = await api()
    const request = { point: "pre-tool", url: "https://hooks.example/" }
    for (const [body, code] of [
      [{ ...request, functions: ["[a"] }, "policy.invalid_glob"],
      [{ ...request, url: "nowhere" }, "request.invalid"],
      [{ ...request, url: "http://user:pass@hooks.example/" }, "request.invalid"],
      [{ ...request, point: "mid-tool" }, "request.invalid"],
      [{ ...request, timeout: 5 }, "request.invalid"],
      [{ ...request, timeoutMillis: 0 }, "request.invalid"],
      [{ ...request, onError: "fail" }, "request.invalid"],
      [{ ...request, secret: "plain" }, "request.invalid"]
    ] as const) {
      const answer = await put("/hooks/bad", body)
      expect([answer.status, answer.body.code]).toEqual([400, code])
    }
    expect((await put("/hooks/-bad", request)).status).toBe(400)
  })

  it("one rewrites a call's arguments, and the call runs with them", async () => {
    const home = await counting("rewrites")
    const { secret } = await hook("rewrites", "pre-tool", json({ mutations: { arguments: { command: count("two") } } }))
    await prompt(home, "t", "rewrites: go")
    const turn = await ended(home, "t")
    expect(ends(turn)).toEqual(["completed"])
    expect(ran("rewrites")).toEqual(["two"])
    const [question] = asked("rewrites")
    expect(question !== undefined && isSigned(question, secret)).toBe(true)
    expect(question?.json).toMatchObject({
      server: "default",
      turnId: "t",
      attempt: 1,
      step: 1,
      idempotencyKey: callsOf(turn)[0]?.idempotencyKey,
      call: { name: "shell", arguments: { command: count("one") } }
    })
    await sound("rewrites")
  })

  const refusals: Readonly<Record<string, readonly [reply: Reply, code: string, more?: object]>> = {
    denies: [json({ decision: "deny", reason: "Not today." }), "hook.denied"],
    dies: [(response) => void response.destroy(), "hook.failed"],
    babbles: [(response) => void response.end("{"), "hook.failed"],
    sleeps: [silence, "hook.failed", { timeoutMillis: 200 }]
  }
  for (const [name, [reply, code, more]] of Object.entries(refusals)) {
    it(`a gate that ${name} is a no: nothing runs, the model is told why, the turn goes on`, async () => {
      const home = await counting(name)
      await hook(name, "pre-tool", reply, more)
      await prompt(home, "t", `${name}: go`)
      expect(ends(await ended(home, "t"))).toEqual([`rejected ${code}`])
      expect(ran(name)).toEqual([])
      expect(await toldResult(name)).toContain(code === "hook.denied" ? "Not today." : name)
      await sound(name)
    })
  }

  it("a call the policy denies reaches no hook", async () => {
    const home = await counting("policed", { tools: { deny: ["shell"] } })
    await hook("policed", "pre-tool", status(204))
    await prompt(home, "t", "policed: go")
    expect(ends(await ended(home, "t"))).toEqual(["rejected policy.denied"])
    expect(asked("policed")).toEqual([])
  })

  it("one that holds parks the call over a crash; released, it runs as rewritten, after the hooks behind it", async () => {
    const home = await counting("held")
    await hook("held", "pre-tool", json({ decision: "hold", mutations: { arguments: { command: count("held") } } }))
    await hook("held.behind", "pre-tool", status(204))
    await prompt(home, "t", "held: go")
    const turn = await waits(home, "t")
    await server().crash()
    expect(ran("held")).toEqual([])
    const callId = callsOf(turn)[0]?.callId ?? ""
    expect((await deliver(home, "t", callId, { action: "execute" })).body).toEqual({
      resolved: true,
      turnResumed: true
    })
    expect(ends(await ended(home, "t"))).toEqual(["completed"])
    expect(ran("held")).toEqual(["held"])
    expect(asked("held")).toHaveLength(1)
    expect(asked("held.behind").map(({ json }) => json.call.arguments)).toEqual([{ command: count("held") }])
    await sound("held")
  })

  it("a call whose holder is gone is not run; it can be given a result", async () => {
    const home = await counting("orphan")
    await hook("orphan", "pre-tool", json({ decision: "hold" }))
    await prompt(home, "t", "orphan: go")
    const turn = await waits(home, "t")
    await (await api()).send("DELETE", "/servers/default/hooks/orphan")
    const callId = callsOf(turn)[0]?.callId ?? ""
    const released = await deliver(home, "t", callId, { action: "execute" })
    expect([released.status, released.body.code]).toEqual([409, "hook.holder_gone"])
    expect(ran("orphan")).toEqual([])
    expect((await deliver(home, "t", callId, { content: "never mind" })).body.resolved).toBe(true)
    expect(ends(await ended(home, "t"))).toEqual(["completed"])
    expect(await toldResult("orphan")).toBe("never mind")
    await sound("orphan")
  })

  it("one with a time lets go of the call when it is over", async () => {
    const home = await counting("timed")
    await hook("timed", "pre-tool", json({ decision: "hold", pendingTimeoutMillis: 1 }))
    await prompt(home, "t", "timed: go")
    await waits(home, "t")
    // What is overdue is looked for at the start, too.
    await server().crash()
    expect(ends(await ended(home, "t"))).toEqual(["failed tool.pending_timeout"])
    expect(ran("timed")).toEqual([])
  })

  it("one after a tool rewrites what the model is told; one that fails leaves it, with a warning", async () => {
    const home = await counting("after")
    await hook("after", "post-tool", json({ mutations: { content: "masked" } }))
    await hook("after.later", "post-tool", status(500))
    await prompt(home, "t", "after: go")
    const turn = await ended(home, "t")
    expect(callsOf(turn)[0]?.result).toMatchObject({ content: [{ type: "text", text: "masked" }], isError: false })
    expect(JSON.stringify(callsOf(turn)[0]?.result?.details)).toContain("after.later")
    expect(await toldResult("after")).toBe("masked")
    expect(ran("after")).toEqual(["one"])
  })

  it("one before a turn or a generation may veto: no model is asked, and the turn says why", async () => {
    for (const [name, point] of [
      ["no-turn", "pre-turn"],
      ["no-model", "pre-generate"]
    ] as const) {
      const home = await counting(name)
      await hook(name, point, json({ decision: "deny", reason: "Closed." }))
      await prompt(home, "t", `${name}: go`)
      const turn = await ended(home, "t")
      expect(turn).toMatchObject({ state: "failed", stopReason: "error" })
      expect(turn.failure.message).toContain("Closed.")
      expect(on.requests(name)).toHaveLength(0)
      await sound(name)
    }
  })

  it("one before a generation adds what the model is sent and nobody stores; one after it sees the answer", async () => {
    const home = await counting("adds")
    await hook(
      "adds",
      "pre-generate",
      json({
        mutations: { systemPrompt: { append: "Speak softly." }, messages: [{ role: "user", content: "By the way." }] }
      })
    )
    await hook("adds.seen", "post-generate", status(204))
    act("adds", () => says("hello there"))
    await prompt(home, "t", "adds: go")
    await ended(home, "t")
    const sent = JSON.stringify((await request("adds", 0)).body)
    expect(sent).toContain("Speak softly.")
    expect(messagesOf(await request("adds", 0)).map(textOf)).toEqual(["adds: go", "By the way."])
    const history = await (await api()).get(`${home}/history`)
    expect(JSON.stringify(history.body)).not.toContain("By the way.")
    while (asked("adds.seen").length === 0) await there.next()
    expect(JSON.stringify(asked("adds.seen")[0]?.json.messages)).toContain("hello there")
  })
})
