import { describe, expect, it } from "vitest"
import { asked, greeted, Table } from "./kit/table.ts"

const onHarnessFailure = { say: "Sorry, I'm having trouble.", transfer: "+15085550100" }

describe("the socket cannot be opened", () => {
  it("runs On failure", () => {
    const table = new Table({ onHarnessFailure }).input({ _tag: "Refused", message: "HTTP 503" }).after(400)
    expect(table.call.failure).toEqual({ reason: "connect", message: "HTTP 503" })
    expect(table.heard()).toEqual(["Sorry, I'm having trouble."])
    expect(table.call.phase).toBe("ended")
    expect(table.call.ended?.reason).toBe("error")
  })
})

describe("a harness that does not speak this protocol", () => {
  it("closes with 4000, and is not asked again: On failure", () => {
    const table = new Table().input({ _tag: "Opened" }).input({ _tag: "Dropped", code: 4000, message: "protocol 2" })
    expect(table.call.failure).toEqual({ reason: "connect", message: "protocol 2" })
  })
})

describe("no first chunk within the wait", () => {
  it("speaks the holding phrase once; after a second wait runs On failure", () => {
    const table = asked({ holdingPhrase: "One moment.", onHarnessFailure }).after(7_999)
    expect(table.heard()).toEqual(["Hello.", "One moment."])
    expect(table.sent()).toEqual([])
    expect(table.after(1).sent()).toEqual([{ type: "session:end", reason: "error", duration_ms: 8_100 }])
    expect(table.call.failure?.reason).toBe("no_reply")
    expect(table.after(400).heard().at(-1)).toBe("Sorry, I'm having trouble.")
  })

  it("speaks nothing without a holding phrase; the second wait still counts", () => {
    const table = asked({ firstChunkTimeoutMs: 500 }).after(999)
    expect(table.call.phase).toBe("live")
    expect(table.after(1).call.phase).toBe("ended")
  })

  it("a reply in the second wait is spoken after the phrase, and later waits have their own phrase", () => {
    const table = asked({ holdingPhrase: "One moment." }).after(4_000).reply("r2", 2, "Eight to six.").after(500)
    expect(table.heard()).toEqual(["Hello.", "One moment.", "Eight to six."])
    table.says("thanks").after(4_200)
    expect(table.heard().at(-1)).toBe("One moment.")
  })

  it("the caller may interrupt the phrase; the turn is cancelled, and no reply is named", () => {
    const table = asked({ holdingPhrase: "One moment please." }).after(4_100).says("never mind")
    expect(table.sent().map(({ type }) => type)).toEqual(["speech:start", "turn:cancel", "transcript", "turn:start"])
    expect(table.heard()).toEqual(["Hello.", "One–"])
  })

  it("while a tool:call is outstanding the second wait waits for it", () => {
    const table = asked({ toolAnswers: { slow: { result: 1, afterMs: 20_000 } } })
    table.harness({ type: "tool:call", call_id: "t1", turn_id: 2, name: "slow", args: {} }).after(20_000)
    expect(table.call.phase).toBe("live")
    expect(table.after(3_999).call.phase).toBe("live")
    expect(table.after(1).call.failure?.reason).toBe("no_reply")
  })

  it("reply:done counts as a first chunk, and so does one without text", () => {
    expect(asked().chunk("r2", 2, "").after(60_000).call.phase).toBe("live")
    expect(asked().done("r2", 2).after(60_000).call.phase).toBe("live")
  })

  it("is not sped up with the rest of the call", () => {
    expect(asked({ speed: 10 }).after(79_999).call.phase).toBe("live")
    expect(asked({ speed: 10 }).after(80_000).call.phase).toBe("ended")
  })
})

describe("the socket drops mid-call", () => {
  const dropped = (settings = {}) => {
    const table = asked(settings)
      .chunk("r2", 2, "We're open eight ")
      .input({ _tag: "Dropped", code: 1006, message: "1006" })
    expect(table.tags().at(-1)).not.toBe("Open")
    table.after(0)
    expect(table.tags().at(-1)).toBe("Open")
    return table
  }

  it("is opened again with resumed and last_turn_id, and the call goes on", () => {
    const table = dropped().after(1_900).input({ _tag: "Opened" })
    expect(table.sent()).toMatchObject([{ type: "session:start", protocol: 1, resumed: true, last_turn_id: 2 }])
    table.chunk("r2", 2, "to six.").done("r2", 2).after(300)
    expect(table.sent()).toEqual([{ type: "event", name: "reply_spoken", reply_id: "r2" }])
    expect(table.heard().at(-1)).toBe("We're open eight to six.")
  })

  it("not within 2 seconds: On failure", () => {
    const table = dropped({ onHarnessFailure }).after(2_000)
    expect(table.call.failure?.reason).toBe("disconnected")
    expect(table.after(400).heard().at(-1)).toBe("Sorry, I'm having trouble.")
    expect(table.input({ _tag: "Opened" }).sent()).toEqual([])
  })

  it("what was received goes on playing; what there is to say meanwhile is lost", () => {
    const table = asked().reply("r2", 2, "Eight to six.")
    table.sent()
    table
      .input({ _tag: "Drop", again: { afterMs: 1_000 }, halfOpen: false })
      .after(500)
      .says("thanks")
    expect(table.sent()).toEqual([])
    const lost = table.out.flatMap((one) => (one._tag === "Lost" ? [one.frame.type] : []))
    expect(lost).toEqual(["event", "speech:start", "transcript", "turn:start"])
    expect(table.after(500).input({ _tag: "Opened" }).sent()).toMatchObject([{ resumed: true, last_turn_id: 3 }])
    expect(table.reply("r3", 3, "Sorry?").after(100).heard()).toEqual(["Hello.", "Eight to six.", "Sorry?"])
  })

  it("may not let a reply go on under its id", () => {
    const table = dropped({ keepsReplies: false }).after(299).input({ _tag: "Opened" })
    table.sent()
    table.chunk("r2", 2, "to six.").reply("r2b", 2, "to six.").after(201)
    expect(table.sent()).toMatchObject([
      { name: "error", code: "invalid_id", ref: "r2" },
      { name: "reply_spoken", reply_id: "r2" },
      { name: "reply_spoken", reply_id: "r2b" }
    ])
    expect(table.heard()).toEqual(["Hello.", "We're open eight ", "to six."])
  })

  it("may be reconnected only so often", () => {
    const table = dropped({ reconnects: 1 })
      .input({ _tag: "Opened" })
      .input({ _tag: "Dropped", code: 1006, message: "1006" })
    expect(table.call.failure?.reason).toBe("disconnected")
  })

  it("never again, if the script says so", () => {
    const table = greeted().input({ _tag: "Drop", again: "never", halfOpen: true }).after(2_000)
    expect(table.tags()).not.toContain("Open")
    expect(table.out).toContainEqual({ at: 100, _tag: "Cut", halfOpen: true })
    expect(table.call.failure?.reason).toBe("disconnected")
  })
})

describe("a message is invalid", () => {
  it("is answered with an error event and dropped", () => {
    expect(asked().harness("nonsense").sent()).toMatchObject([{ type: "event", name: "error" }])
  })
})
