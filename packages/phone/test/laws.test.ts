import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"
import type { Output } from "../src/phoneCall.ts"
import { Table } from "./kit/table.ts"

/** What may happen on a call, in any order: the harness answers the newest turn, an old one, or nobody. */
const moves: Readonly<Record<string, (table: Table, n: number) => unknown>> = {
  chunk: (table, n) => table.chunk(`r${n % 5}`, table.call.lastTurn, ` word${n} and`),
  stale: (table, n) => table.chunk(`s${n}`, Math.max(1, table.call.lastTurn - 1), "Old."),
  done: (table, n) => table.done(`r${n % 5}`, table.call.lastTurn),
  firm: (table, n) => table.chunk(`f${n}`, table.call.lastTurn, "No matter what.", { interruptible: false }),
  firmDone: (table, n) => table.done(`f${n}`, table.call.lastTurn),
  aside: (table, n) => table.reply(`u${n}`, undefined, "By the way."),
  urgent: (table, n) => table.reply(`i${n}`, undefined, "Fire now!", { interrupt: true }),
  speaks: (table) => table.input({ _tag: "Speaks" }),
  interrupts: (table) => table.input({ _tag: "Interrupts" }),
  words: (table) => table.input({ _tag: "Recognized", text: "hm", final: false }),
  stops: (table) => table.input({ _tag: "Stops", text: "" }),
  says: (table, n) => table.says(`thing ${n}`),
  time: (table, n) => table.after(n * 30),
  drop: (table) => table.input({ _tag: "Drop", again: { afterMs: 10 }, halfOpen: false }),
  open: (table) => table.input({ _tag: "Opened" })
}

const story = fc.array(fc.tuple(fc.constantFrom(...Object.keys(moves)), fc.nat({ max: 12 })), { maxLength: 60 })

const played = (
  moved: ReadonlyArray<readonly [string, number]>,
  look: (outputs: ReadonlyArray<Output>, spokeAllTheTime: boolean) => void = () => {}
) => {
  const table = new Table({ firstChunkTimeoutMs: 60_000, holdingPhrase: "One moment.", noInputMs: 200 })
  table.input({ _tag: "Opened" })
  for (const [name, n] of moved) {
    const [before, from] = [table.call.speech, table.out.length]
    moves[name]?.(table, n)
    const spokeAllTheTime = before !== undefined && table.call.speech?.turnId === before.turnId
    look(table.out.slice(from), spokeAllTheTime)
  }
  table.input({ _tag: "HangsUp", reason: "caller_hangup" }).after(10_000)
  return table
}

it("however a call goes, turns count by one, and every reply ends once", () => {
  fc.assert(
    fc.property(story, (moved) => {
      const table = played(moved)
      const said = table.out.flatMap((one) => (one._tag === "Sent" || one._tag === "Lost" ? [one.frame] : []))
      const turns = said.flatMap((frame) => (frame.type === "turn:start" ? [frame.turn_id] : []))
      expect(turns).toEqual(turns.map((_, at) => at + 1))
      const cancelled = said.flatMap((frame) => (frame.type === "turn:cancel" ? [frame.turn_id] : []))
      expect(new Set(cancelled).size).toBe(cancelled.length)
      const ends = said.flatMap((frame) =>
        frame.type === "event" && frame.name !== "error" && "reply_id" in frame ? [frame.reply_id] : []
      )
      expect(new Set(ends).size).toBe(ends.length)
      const ended = said.filter(({ type }) => type === "session:end")
      expect(ended).toHaveLength(1)
      expect(said.at(-1)).toBe(ended[0])
    }),
    { numRuns: 500 }
  )
})

it("what the caller heard is what the harness is told: a beginning of what was received, and the rest of it", () => {
  fc.assert(
    fc.property(story, (moved) => {
      const table = played(moved)
      for (const one of table.out) {
        if ((one._tag !== "Sent" && one._tag !== "Lost") || one.frame.type !== "event") continue
        const { frame } = one
        if (frame.name === "reply_spoken") {
          expect(table.call.heard).toContainEqual(expect.objectContaining({ replyId: frame.reply_id, cut: false }))
        }
        if (frame.name !== "user_interruption") continue
        const heard = table.call.heard.find(({ replyId }) => replyId === frame.reply_id)
        expect(heard?.text ?? "").toBe(frame.spoken)
      }
    }),
    { numRuns: 500 }
  )
})

it("one voice at a time, and none begins while the caller speaks", () => {
  fc.assert(
    fc.property(story, (moved) => {
      let playing = false
      played(moved, (outputs, spokeAllTheTime) => {
        for (const { _tag } of outputs) {
          if (_tag === "Began") expect(playing || spokeAllTheTime).toBe(false)
          if (_tag === "Began" || _tag === "Finished") playing = _tag === "Began"
        }
      })
    }),
    { numRuns: 500 }
  )
})
