import { describe, expect, it } from "vitest"
import { makeGate, says } from "../kit/scriptedModel.ts"
import { stage } from "../kit/stage.ts"
import { isSigned, type Received, receiverForFile, status } from "./receiver.ts"

const { act, api, ended, place: _, server, session } = stage({ HARNESS_ALLOW_PRIVATE_URLS: "1" })
const there = receiverForFile()

const webhook = async (id: string, more: object = {}) => {
  const put = await (await api()).put(`/webhooks/${id}`, { url: there.url(`/${id}`), ...more })
  expect(put.status).toBe(200)
  return put.body
}
const shown = ({ json }: Received) => `${json.type} ${json.turnId} ${json.state}`
/** Waits until a path was called so often. */
const came = async (path: string, times: number) => {
  while (there.came(path).length < times) await there.next()
  return there.came(path)
}

describe("webhooks over HTTP", () => {
  it("tell of a turn from its start to its end, signed, with the positions its log has", async () => {
    const { secret } = await webhook("whole", { sessionId: "whole" })
    const home = await session("whole")
    const schema = { type: "object", properties: { n: { type: "number" } } }
    act("whole", () => says('{"n": 5}'))
    await (await api()).put(`${home}/turns/t`, { content: "whole: go", options: { output: { type: "json", schema } } })
    const turn = await ended(home, "t")
    const [started, completed] = await came("/whole", 2)
    expect([started, completed].every((one) => one !== undefined && isSigned(one, secret))).toBe(true)
    expect(started?.json).toMatchObject({ type: "turn.started", sessionId: "whole", turnId: "t", state: "running" })
    expect(completed?.json).toMatchObject({
      type: "turn.completed",
      sessionId: "whole",
      turnId: "t",
      state: "completed",
      stopReason: "end",
      usage: turn.usage
    })
    expect(completed?.json.result).toEqual(turn.result)
    const { body } = await (await api()).get(home)
    expect(completed?.json.cursor).toBe(body.cursor)
  })

  it("L1: what nobody could be told before a crash is told after it, in order", async () => {
    there.on("/later", status(503))
    await webhook("later", { sessionId: "later" })
    const home = await session("later")
    act("later", () => says("done"))
    await (await api()).put(`${home}/turns/t1`, { content: "later: one" })
    await ended(home, "t1")
    await came("/later", 1)
    await server().crash()
    const before = there.came("/later").length
    there.on("/later", status(200))
    await (await api()).put(`${home}/turns/t2`, { content: "later: two" })
    await ended(home, "t2")
    const told = (await came("/later", before + 4)).slice(before)
    expect(told.map(shown)).toEqual([
      "turn.started t1 running",
      "turn.completed t1 completed",
      "turn.started t2 running",
      "turn.completed t2 completed"
    ])
  })

  it("a turn that is deleted with its session is told to have ended, without what it said", async () => {
    await webhook("gone", { sessionId: "gone", events: ["turn.completed"] })
    const home = await session("gone")
    const gate = makeGate()
    act("gone", () => [{ type: "text", text: "some of it" }, { type: "pause", gate }, ...says("the rest")])
    await (await api()).put(`${home}/turns/t`, { content: "gone: go" })
    await gate.isReached
    await (await api()).send("DELETE", `/servers/default${home}`)
    const [told] = await came("/gone", 1)
    gate.open()
    expect(told?.json).toMatchObject({ type: "turn.completed", state: "cancelled", stopReason: "cancelled" })
    expect(told?.text).not.toContain("some of it")
  })

  it("children are told to whoever asked for their parent's", async () => {
    await webhook("family", { parentSessionId: "parent", events: ["turn.completed"] })
    const home = await session("parent")
    act("parent", (_, step) =>
      step === 0
        ? [
            { type: "toolCall", id: "c", name: "task", arguments: JSON.stringify({ prompt: "child: help" }) },
            { type: "finish", reason: "tool_calls" }
          ]
        : says("done")
    )
    act("child", () => says("helped"))
    await (await api()).put(`${home}/turns/t`, { content: "parent: go" })
    await ended(home, "t")
    const [told] = await came("/family", 1)
    expect(told?.json).toMatchObject({ parentSessionId: "parent", type: "turn.completed", state: "completed" })
    expect(there.came("/family")).toHaveLength(1)
  })

  it("can be told again, and of nothing that has not happened", async () => {
    await webhook("again", { sessionId: "again" })
    const home = await session("again")
    act("again", () => says("done"))
    await (await api()).put(`${home}/turns/t`, { content: "again: go" })
    const first = await came("/again", 2)
    const { post, send, get } = await api()
    const afterServerCursor = (first[0]?.json.serverCursor ?? 0) as number
    // Once the last is taken off the list: what waits still is not told twice.
    await ended(home, "t")
    let answer = await post("/webhooks/again/redeliver", { afterServerCursor })
    while (answer.body.deliveries === 0) answer = await post("/webhooks/again/redeliver", { afterServerCursor })
    expect(answer).toMatchObject({ status: 200, body: { webhookId: "again", deliveries: 1 } })
    const [, second, third] = await came("/again", 3)
    expect(third?.text).toBe(second?.text)
    expect(third?.headers["webhook-id"]).toBe(second?.headers["webhook-id"])
    const ahead = await post("/webhooks/again/redeliver", { afterServerCursor: 1_000_000 })
    expect([ahead.status, ahead.body.code]).toEqual([409, "cursor.ahead"])
    const unknown = await post("/webhooks/nobody/redeliver", { afterServerCursor: 0 })
    expect([unknown.status, unknown.body.code]).toEqual([404, "webhook.not_found"])
    expect((await send("POST", "/servers/unmade/webhooks/nobody/redeliver", { afterServerCursor: 0 })).status).toBe(404)
    expect((await send("DELETE", "/servers/default/webhooks/again")).body).toEqual({
      webhookId: "again",
      removed: true
    })
    const { webhooks } = (await get("/webhooks")).body
    expect(JSON.stringify(webhooks)).not.toMatch(/again|whsec/)
  })
})
