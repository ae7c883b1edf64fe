import { type TurnChange, TurnId, type TurnSnapshot } from "@harness/protocol"
import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { foldTurn, type TurnEvent } from "../src/Client.ts"
import { at, sessionId, snapshot, text, turnId } from "./kit/log.ts"
import { anyStep, type Told, tell } from "./kit/story.ts"

type Folded = TurnSnapshot | undefined
const fold = (events: ReadonlyArray<TurnEvent>, from?: TurnSnapshot): Folded => events.reduce<Folded>(foldTurn, from)

const envelope = (revision: number) => ({ sessionId, turnId, cursor: revision + 10, revision, at })
const changeOf = ({ prompt: _, ...change }: TurnSnapshot): TurnChange => change
const row = (turn: TurnChange): TurnEvent => ({ type: "turn.snapshot", ...envelope(turn.revision), turn })
const opening = (turn: TurnSnapshot): TurnEvent => ({
  type: "turn.snapshot",
  sessionId,
  turnId: turn.turnId,
  revision: turn.revision,
  turn
})
const delta = (partId: string, offset: number, delta: string, attempt = 1): TurnEvent => ({
  type: "turn.text.delta",
  sessionId,
  turnId,
  attempt,
  partId,
  offset,
  delta
})

describe("folding a turn", () => {
  it("begins with the turn's first row, with a whole snapshot, or with what one has; not in between", () => {
    const first = snapshot(1, { state: "queued" })
    expect(fold([row(first)])).toEqual(first)
    expect(fold([opening(snapshot(5))])).toEqual(snapshot(5))
    expect(fold([row(changeOf(snapshot(5))), row(snapshot(6))])).toBeUndefined()
    expect(fold([row(changeOf(snapshot(6, { state: "waiting" })))], snapshot(5))).toEqual(
      snapshot(6, { state: "waiting" })
    )
  })

  it("moves the revision with every row", () => {
    const started: TurnEvent = {
      type: "turn.started",
      ...envelope(2),
      model: "demo/demo",
      agent: "general",
      mode: "agent"
    }
    expect(fold([started], snapshot(1))?.revision).toBe(2)
    expect(fold([{ type: "session.cursor", sessionId, cursor: 99 }], snapshot(1))?.revision).toBe(1)
  })

  it("drops rows and snapshots that are older than what is held", () => {
    const held = snapshot(5, { parts: [text("p1", "new", true)] })
    expect(fold([row(changeOf(snapshot(4, { parts: [text("p1", "old")] }))), opening(snapshot(4))], held)).toBe(held)
  })

  it("keeps to its own turn on a session's stream", () => {
    const held = snapshot(5)
    const other = snapshot(9, { turnId: TurnId.make("turn-2") })
    const event: TurnEvent = {
      type: "session.turn.snapshot",
      sessionId,
      cursor: 9,
      turnId: other.turnId,
      revision: 9,
      turn: other
    }
    expect(fold([event], held)).toBe(held)
    expect(fold([opening(other)], held)).toEqual(other)
  })

  it("grows text, truncates where a crash took the tail, and waits for the row when something is missing", () => {
    const held = fold([delta("p1", 0, "Hello"), delta("p1", 5, " wor")], snapshot(1))
    expect(held?.parts).toEqual([text("p1", "Hello wor")])
    expect(fold([delta("p1", 5, ", you", 2)], held)?.parts).toEqual([text("p1", "Hello, you")])
    const gap = fold([delta("p1", 20, "lost"), delta("p1", 24, "too")], held)
    expect(gap?.parts).toEqual([text("p1", "Hello wor")])
    const settled = snapshot(2, { parts: [text("p1", "Hello world, and all of it", true)] })
    expect(fold([row(changeOf(settled))], gap)).toEqual(settled)
  })

  it("ignores previews of an earlier attempt", () => {
    const held = snapshot(3, { attempt: 2, parts: [text("p1", "again")] })
    expect(fold([delta("p1", 0, "before the crash")], held)).toBe(held)
  })

  it("ends with the terminal row, whole or, when that is too long for one event, without its oldest parts", () => {
    const held = snapshot(4, { parts: [text("p1", "one", true)] })
    const end = snapshot(5, { state: "completed", parts: [text("p1", "one", true), text("p2", "two", true)] })
    const terminal = (turn: TurnChange): TurnEvent => ({ type: "turn.terminal", ...envelope(turn.revision), turn })
    expect(fold([terminal(end)], held)).toEqual(end)
    expect(fold([terminal(end)])).toEqual(end)
    const short = changeOf({ ...end, parts: end.parts.slice(1) })
    expect(fold([terminal(short)], held)).toEqual(end)
    expect(fold([terminal(short)])).toBeUndefined()
  })
})

const eventOf = (told: Told): TurnEvent =>
  told.row === undefined
    ? delta(told.delta?.partId ?? "", told.delta?.offset ?? 0, told.delta?.delta ?? "", told.delta?.attempt)
    : row(told.row)

describe("a reader that is cut and resumes anywhere", () => {
  it("holds what the server has, after every event, however often it was cut", () => {
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.boolean(),
        (steps, places, fromStart) => {
          const told = tell(steps)
          const cuts = new Set(places.map((place) => place % told.length))
          let held: Folded = fromStart ? undefined : told[0]?.turn
          let missing = false
          for (const [n, said] of told.entries()) {
            const { turn } = said
            const event = eventOf(said)
            // A cut: previews are lost, rows come again, and then the text that grows, as it is just now.
            if (cuts.has(n) && said.row === undefined) {
              missing = true
              continue
            }
            if (missing) {
              const before = told[n - 1]?.turn
              if (before !== undefined) held = foldTurn(held, opening(before))
              missing = false
            }
            held = foldTurn(held, event)
            expect(held).toEqual(turn)
          }
        }
      ),
      { numRuns: 150 }
    )
  })

  it("is right again with the next row of a part, also when previews were dropped and nothing was told instead", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), fc.array(fc.nat(), { maxLength: 20 }), (steps, places) => {
        const told = tell([...steps, { kind: "close" }, { kind: "note" }])
        const dropped = new Set(places.map((place) => place % told.length))
        const heard = told.filter(({ row }, n) => row !== undefined || !dropped.has(n))
        expect(fold(heard.map(eventOf))).toEqual(told.at(-1)?.turn)
      }),
      { numRuns: 150 }
    )
  })
})
