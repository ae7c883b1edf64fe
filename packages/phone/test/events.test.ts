import { describe, expect, it } from "vitest"
import { asked, greeted, type Table } from "./kit/table.ts"

describe("events", () => {
  it("user_interruption of an unprompted reply names no turn, and cancels none", () => {
    const table = greeted().chunk("u1", undefined, "Are you there? ").after(100).says("yes")
    const sent = table.sent()
    expect(sent).toContainEqual({
      type: "event",
      name: "user_interruption",
      reply_id: "u1",
      spoken: "Are",
      unspoken: " you there? "
    })
    expect(sent.some(({ type }) => type === "turn:cancel")).toBe(false)
  })

  it("reply_spoken comes when a reply has finished playing, not when it is done; never of one without words", () => {
    const table = asked().reply("r2", 2, "Eight to six.").after(299)
    expect(table.sent()).toEqual([])
    expect(table.after(1).sent()).toEqual([{ type: "event", name: "reply_spoken", reply_id: "r2" }])
    expect(table.done("u1", undefined).sent()).toEqual([])
  })

  it("silence comes each time the caller said nothing for so long, and counts", () => {
    const table = greeted({ noResponseTimeout: 10 }).after(20_000)
    expect(table.sent()).toEqual([
      { type: "event", name: "silence", seconds: 10, streak: 1 },
      { type: "event", name: "silence", seconds: 10, streak: 2 }
    ])
  })

  it("silence begins anew after a reply, and its count after words or a key", () => {
    const table = greeted({ noResponseTimeout: 1 }).after(1_000).reply("u1", undefined, "Are you there?").after(1_299)
    expect(table.sent()).toEqual([
      { type: "event", name: "silence", seconds: 1, streak: 1 },
      { type: "event", name: "reply_spoken", reply_id: "u1" }
    ])
    expect(table.after(1).sent()).toEqual([{ type: "event", name: "silence", seconds: 1, streak: 2 }])
    table.after(500).input({ _tag: "Presses", digits: "1" })
    table.sent()
    expect(table.after(999).sent()).toEqual([])
    expect(table.after(1).sent()).toEqual([{ type: "event", name: "silence", seconds: 1, streak: 1 }])
    table.says("yes").reply("r2", 2, "Good.").after(1_100)
    expect(table.sent().at(-1)).toEqual({ type: "event", name: "silence", seconds: 1, streak: 1 })
  })

  it("silence is not counted while an answer is owed, the caller speaks, or with a timeout of 0", () => {
    const waiting = asked({ noResponseTimeout: 1, firstChunkTimeoutMs: 60_000 }).after(30_000)
    expect(waiting.sent()).toEqual([])
    const speaking = greeted({ noResponseTimeout: 1 }).input({ _tag: "Speaks" }).after(30_000)
    expect(speaking.sent()).toHaveLength(1)
    expect(greeted({ noResponseTimeout: 0 }).after(30_000).sent()).toEqual([])
  })

  it("dtmf is one event per key, and stops nothing", () => {
    const table = asked().reply("r2", 2, "Eight to six.").after(100)
    table.input({ _tag: "Presses", digits: "1#", durationMs: 80 })
    expect(table.sent()).toEqual([
      { type: "event", name: "dtmf", digits: "1", duration_ms: 80 },
      { type: "event", name: "dtmf", digits: "#", duration_ms: 80 }
    ])
    expect(table.after(200).heard().at(-1)).toBe("Eight to six.")
  })

  it("dtmf is not sent while a transfer is under way", () => {
    const table = asked({ transfer: { outcome: "failed", afterMs: 1_000 } }).command("c1", "transfer", { to: "+1" })
    table.sent()
    expect(table.input({ _tag: "Presses", digits: "1" }).sent()).toEqual([])
    table.after(1_000).input({ _tag: "Presses", digits: "2" })
    expect(table.sent().at(-1)).toEqual({ type: "event", name: "dtmf", digits: "2" })
  })

  it("application_update passes on what the application sent", () => {
    const data = { messages: [{ role: "system", content: "The caller is a member." }] }
    const table = greeted().input({ _tag: "Update", updateType: "inject_context", data })
    expect(table.sent()).toEqual([{ type: "event", name: "application_update", update_type: "inject_context", data }])
  })
})

describe("error, when a message is refused", () => {
  const refusal = (table: Table) => {
    const [first, ...others] = table.sent()
    expect(others).toEqual([])
    return first
  }

  it("a reply sent before its turn's turn:start", () => {
    const table = greeted().input({ _tag: "Speaks" })
    table.sent()
    expect(refusal(table.chunk("r2", 2, "Yes?"))).toMatchObject({ name: "error", code: "turn_not_started", ref: "r2" })
    table.input({ _tag: "Stops", text: "hello" }).reply("r2", 2, "Yes?").after(100)
    expect(table.heard().at(-1)).toBe("Yes?")
  })

  it("a reply id that was used, a call id, a command id", () => {
    const reply = asked().reply("r2", 2, "Yes.").after(100)
    reply.sent()
    expect(refusal(reply.chunk("r2", undefined, "More"))).toMatchObject({ code: "duplicate_id", ref: "r2" })
    const tool = asked({ toolAnswers: { a: { result: 1, afterMs: 100 } } })
    const call = { type: "tool:call", call_id: "t1", turn_id: 2, name: "a", args: {} }
    expect(refusal(tool.harness(call).harness(call))).toMatchObject({ code: "duplicate_id", ref: "t1" })
    const command = asked().command("c1", "barge_in", { enabled: true })
    command.sent()
    expect(refusal(command.command("c1", "hangup"))).toMatchObject({ code: "duplicate_id", ref: "c1" })
  })

  it("a reply that changes its turn", () => {
    const table = asked().chunk("r2", 2, "Yes ").chunk("r2", undefined, "and no.")
    expect(refusal(table)).toMatchObject({ code: "invalid_id", ref: "r2" })
  })

  it("a turn record that is too large: the reply goes on, and may be done without it", () => {
    const table = asked()
      .chunk("r2", 2, "Yes.")
      .done("r2", 2, { turn_record: { note: "x".repeat(16_384) } })
    expect(refusal(table)).toMatchObject({ code: "turn_record_too_large", ref: "r2" })
    expect(table.after(1_000).sent()).toEqual([])
    expect(
      table
        .done("r2", 2, { turn_record: { note: "short" } })
        .after(100)
        .sent()
    ).toEqual([{ type: "event", name: "reply_spoken", reply_id: "r2" }])
  })

  it.each([
    ["no object", undefined, "invalid_message"],
    ["no type", { reply_id: "r2" }, "invalid_message"],
    ["no id", { type: "reply:done" }, "invalid_id"],
    ["no chunk", { type: "reply:chunk", reply_id: "r2", turn_id: 2 }, "invalid_message"],
    ["another type", { type: "reply:audio", reply_id: "r2" }, "invalid_message"]
  ])("a message with %s", (_, frame, code) => {
    const table = asked().harness(frame)
    expect(refusal(table)).toMatchObject({ name: "error", code })
    expect(table.reply("r2", 2, "Yes.").after(100).heard().at(-1)).toBe("Yes.")
  })
})
