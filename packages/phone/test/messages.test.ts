import { describe, expect, it } from "vitest"
import { asked, greeted, Table } from "./kit/table.ts"

describe("jambonz → harness", () => {
  it("session:start carries the call, its metadata, and its tools as OpenAI function definitions", () => {
    const tool = { name: "get_hours", description: "Opening hours", parameters: { type: "object" } }
    const wrapped = { type: "function", function: { ...tool, name: "other" } }
    const table = new Table({
      from: "+1",
      to: "+2",
      metadata: { agent: "desk" },
      sipHeaders: { "X-Account": "7" },
      tools: [tool, wrapped]
    }).input({ _tag: "Opened" })
    expect(table.sent()).toEqual([
      {
        type: "session:start",
        protocol: 1,
        account_sid: "AC-0001",
        application_sid: "AP-0001",
        direction: "inbound",
        from: "+1",
        to: "+2",
        language: "en-US",
        sip_headers: { "X-Account": "7" },
        metadata: { agent: "desk" },
        tools: [{ type: "function", function: tool }, wrapped]
      },
      { type: "turn:start", turn_id: 1, input: { type: "greeting" } }
    ])
  })

  it("speech:start names the turn this speech will become, also while a reply is playing, and interrupts nothing", () => {
    const table = asked().chunk("r2", 2, "We're open eight to six. ").after(200).input({ _tag: "Speaks" })
    expect(table.sent()).toEqual([{ type: "speech:start", turn_id: 3 }])
    table.after(300).done("r2", 2)
    expect(table.sent()).toEqual([{ type: "event", name: "reply_spoken", reply_id: "r2" }])
    expect(table.heard()).toEqual(["Hello.", "We're open eight to six. "])
  })

  it("transcript holds the whole utterance so far; only turn:start says that the caller has finished", () => {
    const table = greeted()
      .input({ _tag: "Speaks" })
      .input({ _tag: "Recognized", text: "When are", final: false })
      .input({ _tag: "Recognized", text: "When are you open", final: true, confidence: 0.9 })
    expect(table.sent()).toEqual([
      { type: "speech:start", turn_id: 2 },
      { type: "transcript", turn_id: 2, text: "When are", final: false },
      { type: "transcript", turn_id: 2, text: "When are you open", final: true, confidence: 0.9 }
    ])
    table.input({ _tag: "Stops", text: "When are you open", confidence: 0.9 })
    expect(table.sent()).toEqual([
      {
        type: "turn:start",
        turn_id: 2,
        input: { type: "speech", text: "When are you open", confidence: 0.9, language: "en-US" }
      }
    ])
  })

  it("turn:start of a caller who interrupted and then said nothing is a no_input, after a while", () => {
    const table = asked({ noInputMs: 500 }).chunk("r2", 2, "We're open eight to six. ").after(200)
    table.input({ _tag: "Interrupts" }).input({ _tag: "Stops", text: "" })
    expect(table.sent().map(({ type }) => type)).toEqual(["speech:start", "event", "turn:cancel"])
    expect(table.after(499).sent()).toEqual([])
    expect(table.after(1).sent()).toEqual([{ type: "turn:start", turn_id: 3, input: { type: "no_input" } }])
  })

  it("turn ids increase by one per turn; noise becomes none", () => {
    const table = greeted().input({ _tag: "Speaks" }).input({ _tag: "Stops", text: "" }).after(5_000)
    expect(table.sent()).toEqual([{ type: "speech:start", turn_id: 2 }])
    table.says("one").reply("r2", 2, "Yes.").after(100).says("two")
    const started = table.sent().flatMap((frame) => (frame.type === "turn:start" ? [frame.turn_id] : []))
    expect(started).toEqual([2, 3])
  })

  it("turn:cancel barge_in comes after the interruption; an answer that has not begun is cancelled without one", () => {
    const table = asked().says("no, wait")
    expect(table.sent().map((frame) => frame.type)).toEqual(["speech:start", "turn:cancel", "transcript", "turn:start"])
  })

  it("turn:cancel call_ended comes when the caller hangs up on an open turn", () => {
    const table = asked().chunk("r2", 2, "We're open eight ").after(100)
    table.input({ _tag: "HangsUp", reason: "caller_hangup" })
    expect(table.sent()).toEqual([
      { type: "turn:cancel", turn_id: 2, reason: "call_ended" },
      { type: "session:end", reason: "caller_hangup", duration_ms: 200 }
    ])
    expect(table.tags().at(-1)).toBe("Close")
    expect(table.heard()).toEqual(["Hello.", "We're–"])
  })

  it.each(["application_hangup", "application_redirect"] as const)("session:end says %s", (reason) => {
    expect(greeted().input({ _tag: "HangsUp", reason }).sent()).toEqual([
      { type: "session:end", reason, duration_ms: 100 }
    ])
  })

  it("nothing is said after session:end", () => {
    const table = asked().input({ _tag: "HangsUp", reason: "caller_hangup" })
    table.sent()
    expect(table.reply("r2", 2, "Hello?").says("hello").after(60_000).sent()).toEqual([])
  })
})

describe("harness → jambonz", () => {
  it("reply:chunk speaks the first choice's text as it arrives, and nothing else of a chunk", () => {
    const table = asked().chunk("r2", 2, "We're op")
    table.harness({
      type: "reply:chunk",
      reply_id: "r2",
      turn_id: 2,
      chunk: { choices: [{ delta: { tool_calls: [{ id: "x" }] } }, { delta: { content: "not this" } }] }
    })
    table.after(100).chunk("r2", 2, "en today.").after(99).done("r2", 2).after(101)
    expect(table.heard()).toEqual(["Hello.", "We're open today."])
  })

  it("reply:done without a chunk answers a turn with nothing", () => {
    const table = asked({ firstChunkTimeoutMs: 1_000 }).done("r2", 2).after(10_000)
    expect(table.sent()).toEqual([])
    expect(table.call.turn?.state).toBe("answered")
  })

  it("tool:call runs a tool as it was scripted: a result, an error, and after a while", () => {
    const table = asked({
      toolAnswers: {
        now: { result: { weekdays: "8am to 6pm" } },
        broken: { error: "no line" },
        slow: { result: 1, afterMs: 500 }
      }
    })
    for (const [call_id, name] of [
      ["t1", "now"],
      ["t2", "slow"],
      ["t3", "broken"],
      ["t4", "none"]
    ]) {
      table.harness({ type: "tool:call", call_id, turn_id: 2, name, args: {} })
    }
    expect(table.sent()).toEqual([
      { type: "tool:result", call_id: "t1", result: { weekdays: "8am to 6pm" } },
      { type: "tool:result", call_id: "t3", error: "no line" },
      { type: "tool:result", call_id: "t4", error: "there is no tool none" }
    ])
    expect(table.after(500).sent()).toEqual([{ type: "tool:result", call_id: "t2", result: 1 }])
  })

  it("a tool's result comes also after its turn was cancelled; a call for a cancelled turn is dropped", () => {
    const table = asked({ toolAnswers: { slow: { result: 1, afterMs: 500 } } })
    table.harness({ type: "tool:call", call_id: "t1", turn_id: 2, name: "slow", args: {} }).says("wait")
    table.harness({ type: "tool:call", call_id: "t2", turn_id: 2, name: "slow", args: {} })
    table.sent()
    expect(table.reply("r3", 3, "Yes?").after(500).sent()).toEqual([
      { type: "event", name: "reply_spoken", reply_id: "r3" },
      { type: "tool:result", call_id: "t1", result: 1 }
    ])
    expect(table.out).toContainEqual({ at: 100, _tag: "Dropped", why: "its turn is over", ref: "t2" })
  })
})
