import { describe, expect, it } from "vitest"
import { asked, greeted } from "./kit/table.ts"

const ok = (command_id: string) => ({ type: "command:result", command_id, ok: true })

describe("commands", () => {
  it("hangup: its result, then session:end, and nothing more is heard", () => {
    const table = asked().reply("r2", 2, "Good bye then.").after(100).command("c1", "hangup", { reason: "resolved" })
    expect(table.sent()).toEqual([ok("c1"), { type: "session:end", reason: "harness_hangup", duration_ms: 200 }])
    expect(table.after(10_000).heard()).toEqual(["Hello.", "Good–"])
    expect(table.call.phase).toBe("ended")
  })

  it("transfer: its result, the announcement, then bridged ends the call", () => {
    const table = asked({ transfer: { outcome: "bridged", afterMs: 3_000 } })
    table.command("c1", "transfer", { to: "+15085550100", announce: "Putting you through." })
    expect(table.sent()).toEqual([ok("c1")])
    expect(table.after(3_299).heard().at(-1)).toBe("Putting you through.")
    expect(table.sent()).toEqual([])
    expect(table.after(1).sent()).toEqual([
      { type: "event", name: "transfer", command_id: "c1", outcome: "bridged" },
      { type: "session:end", reason: "transferred", duration_ms: 3_400 }
    ])
  })

  it.each(["failed", "returned"] as const)("transfer that is %s: the call stays with the harness", (outcome) => {
    const table = asked({ transfer: { outcome, reason: "busy", afterMs: 1_000 }, transferDestination: "desk" })
    table.command("c1", "transfer").reply("r2", 2, "Nobody is there.").says("not heard")
    expect(table.sent()).toEqual([ok("c1")])
    expect(table.after(1_000).sent()).toEqual([
      { type: "event", name: "transfer", command_id: "c1", outcome, reason: "busy" }
    ])
    expect(table.after(300).heard().at(-1)).toBe("Nobody is there.")
    expect(table.says("oh").sent().at(-1)).toMatchObject({ type: "turn:start", turn_id: 3 })
  })

  it("transfer while an answer is owed: no first chunk is waited for until it is over", () => {
    const table = asked({ firstChunkTimeoutMs: 1_000, transfer: { outcome: "failed", afterMs: 20_000 } })
    table.command("c1", "transfer", { to: "+1" }).after(20_000)
    expect(table.call.phase).toBe("live")
    expect(table.after(2_000).call.failure?.reason).toBe("no_reply")
  })

  it("transfer without any destination fails, and so does one during another", () => {
    expect(asked().command("c1", "transfer").sent()).toEqual([
      { type: "command:result", command_id: "c1", ok: false, error: "there is no destination" }
    ])
    const table = asked({ transfer: { outcome: "failed", afterMs: 1_000 } }).command("c1", "transfer", { to: "+1" })
    expect(table.command("c2", "transfer", { to: "+1" }).sent()[1]).toMatchObject({ command_id: "c2", ok: false })
  })

  it("record: what took effect is told; what could not is refused", () => {
    const table = asked()
    const states = ["start", "pause", "resume", "stop"].map((action, at) => {
      const [result, event] = table.command(`c${at}`, "record", { action, type: "cloud" }).sent()
      expect(result).toEqual(ok(`c${at}`))
      return event
    })
    expect(states).toEqual(
      ["started", "paused", "resumed", "stopped"].map((state, at) => ({
        type: "event",
        name: "recording",
        command_id: `c${at}`,
        state,
        by: "harness"
      }))
    )
    expect(table.command("c9", "record", { action: "pause" }).sent()).toEqual([
      { type: "command:result", command_id: "c9", ok: false, error: "cannot pause a recording that is off" }
    ])
  })

  it("barge_in applies from the next reply until changed", () => {
    const table = asked().chunk("r2", 2, "Calls are recorded. ").command("c1", "barge_in", { enabled: false })
    expect(table.says("what").sent()[2]).toMatchObject({ name: "user_interruption" })
    table.reply("r3", 3, "Listen to me.").says("no").after(300)
    expect(table.heard().at(-1)).toBe("Listen to me.")
    table.command("c2", "barge_in", { enabled: true }).reply("r4", 4, "As you like.").after(100)
    table.sent()
    expect(table.says("thanks").sent()[1]).toMatchObject({ name: "user_interruption", reply_id: "r4" })
  })

  it("listen changes the language of the following turns, where the vendor can", () => {
    const table = greeted().command("c1", "listen", { language: "de-DE" })
    expect(table.sent()).toEqual([ok("c1")])
    expect(table.says("hallo").sent().at(-1)).toMatchObject({ input: { language: "de-DE" } })
    const cannot = greeted({ changesLanguage: false }).command("c1", "listen", { language: "de-DE" })
    expect(cannot.sent()[0]).toMatchObject({ ok: false })
  })

  it.each([
    ["play", { url: "https://example.com/a.mp3" }],
    ["listen", { language: "de-DE", hints: ["Acme"] }],
    ["dance", {}]
  ])("%s is refused", (name, args) => {
    const [result] = greeted().command("c1", name, args).sent()
    expect(result).toMatchObject({ type: "command:result", command_id: "c1", ok: false })
  })
})
