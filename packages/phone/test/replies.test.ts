import { describe, expect, it } from "vitest"
import { asked, greeted } from "./kit/table.ts"

describe("one reply at a time", () => {
  it("a reply that starts while another is playing is queued behind it", () => {
    const table = asked().chunk("r2", 2, "One moment. ").reply("r3", 2, "Eight to six.")
    expect(table.after(1_000).heard()).toEqual(["Hello."])
    table.done("r2", 2).after(300)
    expect(table.heard()).toEqual(["Hello.", "One moment. ", "Eight to six."])
    expect(table.sent()).toEqual([
      { type: "event", name: "reply_spoken", reply_id: "r2" },
      { type: "event", name: "reply_spoken", reply_id: "r3" }
    ])
  })

  it("a turn is open until its last reply has played", () => {
    const table = asked().reply("r2", 2, "One moment.").reply("r3", 2, "Eight to six.").after(200)
    expect(table.call.turn?.state).toBe("open")
    expect(table.after(300).call.turn?.state).toBe("answered")
  })

  it("what comes for a cancelled turn is dropped without a word", () => {
    const table = asked().chunk("r2", 2, "We're open eight ").reply("r3", 2, "And more.").after(100).says("stop")
    table.sent()
    table.chunk("r2", 2, "to six.").done("r2", 2).reply("r3", 2, "late").reply("r4", 2, "new")
    expect(table.sent()).toEqual([])
    expect(table.after(5_000).heard()).toEqual(["Hello.", "We're–"])
    expect(table.tags().filter((tag) => tag === "Dropped")).toHaveLength(6)
  })

  it("and a late frame for a reply without a turn that was interrupted, too", () => {
    const table = greeted().chunk("u1", undefined, "Are you still there? ").after(200).says("yes")
    expect(table.sent().slice(0, 2)).toEqual([
      { type: "speech:start", turn_id: 2 },
      { type: "event", name: "user_interruption", reply_id: "u1", spoken: "Are you", unspoken: " still there? " }
    ])
    table.sent()
    expect(table.chunk("u1", undefined, "Hm?").done("u1", undefined).sent()).toEqual([])
  })
})

describe("replies the harness starts on its own", () => {
  it("the floor is free: spoken at once", () => {
    expect(greeted().reply("u1", undefined, "Are you there?").after(300).heard()).toEqual(["Hello.", "Are you there?"])
  })

  it("the floor is busy: held until the turn's reply has played", () => {
    const table = asked().reply("u1", undefined, "By the way.").after(1_000)
    expect(table.heard()).toEqual(["Hello."])
    table.reply("r2", 2, "Eight to six.").after(600)
    expect(table.heard()).toEqual(["Hello.", "Eight to six.", "By the way."])
  })

  it("the caller speaks: held until what was said is answered", () => {
    const table = greeted().input({ _tag: "Speaks" }).reply("u1", undefined, "By the way.").after(1_000)
    expect(table.heard()).toEqual(["Hello."])
    table.input({ _tag: "Stops", text: "hello" }).after(1_000).reply("r2", 2, "Hi.").after(400)
    expect(table.heard()).toEqual(["Hello.", "Hi.", "By the way."])
  })

  it("one is held at a time, and a newer one replaces it", () => {
    const table = asked().reply("u1", undefined, "First.").reply("u2", undefined, "Second.")
    expect(table.sent()).toEqual([{ type: "event", name: "reply_dropped", reply_id: "u1", reason: "replaced" }])
    expect(table.chunk("u1", undefined, "late").sent()).toEqual([])
    expect(table.reply("r2", 2, "Yes.").after(1_000).heard()).toEqual(["Hello.", "Yes.", "Second."])
  })

  it("interrupt: true cuts off whatever is playing, whoever may interrupt it", () => {
    const table = asked().chunk("r2", 2, "We're open eight to six. ", { interruptible: false }).after(200)
    table.reply("u1", undefined, "Fire!", { interrupt: true }).after(100)
    expect(table.heard()).toEqual(["Hello.", "We're open–", "Fire!"])
    expect(table.chunk("r2", 2, "late").sent()).toEqual([{ type: "event", name: "reply_spoken", reply_id: "u1" }])
  })

  it("interrupt: true counts on the first chunk alone", () => {
    const table = asked().chunk("r2", 2, "We're open. ").chunk("u1", undefined, "Oh. ")
    table.chunk("u1", undefined, "No. ", { interrupt: true }).done("u1", undefined).done("r2", 2).after(1_000)
    expect(table.heard()).toEqual(["Hello.", "We're open. ", "Oh. No. "])
  })

  it("and even so a caller in mid-utterance is not talked over", () => {
    const table = greeted().input({ _tag: "Speaks" }).reply("u1", undefined, "Fire!", { interrupt: true }).after(1_000)
    expect(table.heard()).toEqual(["Hello."])
    table.input({ _tag: "Stops", text: "what is it" }).after(100)
    expect(table.heard()).toEqual(["Hello.", "Fire!"])
    expect(table.reply("r2", 2, "Sorry.").after(100).heard().at(-1)).toBe("Sorry.")
  })

  it("one that was never spoken when the call ends is told of", () => {
    const table = asked().reply("u1", undefined, "By the way.").input({ _tag: "HangsUp", reason: "caller_hangup" })
    expect(table.sent()).toEqual([
      { type: "turn:cancel", turn_id: 2, reason: "call_ended" },
      { type: "event", name: "reply_dropped", reply_id: "u1", reason: "call_ended" },
      { type: "session:end", reason: "caller_hangup", duration_ms: 100 }
    ])
  })
})

describe("barge-in", () => {
  it("splits a reply exactly where it was heard to", () => {
    const table = asked().reply("r2", 2, "We're open eight to six on weekdays.").after(300).says("Thanks, bye")
    expect(table.sent()).toEqual([
      { type: "speech:start", turn_id: 3 },
      {
        type: "event",
        name: "user_interruption",
        turn_id: 2,
        reply_id: "r2",
        spoken: "We're open eight",
        unspoken: " to six on weekdays."
      },
      { type: "turn:cancel", turn_id: 2, reason: "barge_in" },
      { type: "transcript", turn_id: 3, text: "Thanks, bye", final: true },
      { type: "turn:start", turn_id: 3, input: { type: "speech", text: "Thanks, bye", language: "en-US" } }
    ])
  })

  it("before the first word nothing was heard; after the last one, before reply:done, everything was", () => {
    const early = asked().chunk("r2", 2, "We're open. ").after(99).says("stop").sent()
    expect(early[1]).toMatchObject({ spoken: "", unspoken: "We're open. " })
    const late = asked().chunk("r2", 2, "We're open. ").after(500).says("stop").sent()
    expect(late[1]).toMatchObject({ spoken: "We're open.", unspoken: " " })
  })

  it("interruptible: false on the first chunk holds it until the whole reply has played", () => {
    const table = asked().chunk("r2", 2, "Calls are ", { interruptible: false }).after(100).says("hello")
    expect(table.sent().map(({ type }) => type)).toEqual(["speech:start", "transcript"])
    table.chunk("r2", 2, "recorded.").done("r2", 2).after(200)
    expect(table.sent()).toEqual([
      { type: "event", name: "reply_spoken", reply_id: "r2" },
      { type: "turn:start", turn_id: 3, input: { type: "speech", text: "hello", language: "en-US" } }
    ])
    expect(table.heard().at(-1)).toBe("Calls are recorded.")
  })

  it("what is said in two goes over such a reply is one turn", () => {
    const table = asked().reply("r2", 2, "Calls are recorded.", { interruptible: false }).says("hello").says("there")
    table.after(300)
    expect(table.sent().at(-1)).toMatchObject({ type: "turn:start", turn_id: 3, input: { text: "hello there" } })
  })

  it("interruptible: false on a later chunk means nothing", () => {
    const table = asked().chunk("r2", 2, "Calls are ").chunk("r2", 2, "recorded.", { interruptible: false }).after(100)
    expect(table.says("hello").sent()[1]).toMatchObject({ name: "user_interruption" })
  })

  it("may be switched off by the verb", () => {
    const table = asked({ bargeIn: false }).reply("r2", 2, "Eight to six.").says("hello").after(300)
    expect(table.heard().at(-1)).toBe("Eight to six.")
  })
})
