import { expect, it } from "@effect/vitest"
import { CallId, EntryId, ServerName, SessionId, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import type { StoredEntry } from "../../src/history/HistoryRepo.ts"
import { Hub } from "../../src/log/Hub.ts"
import { toMessages } from "../../src/loop/context.ts"
import { Growing } from "../../src/loop/Growing.ts"
import { type TurnRow, toSnapshot } from "../../src/turns/TurnsRepo.ts"

const turn: TurnRow = {
  sessionId: SessionId.make("s"),
  turnId: TurnId.make("t"),
  seq: 1,
  rank: 1,
  state: "running",
  revision: 3,
  attempt: 1,
  requestHash: "",
  prompt: JSON.stringify({ role: "user", content: [{ type: "text", text: "hello" }] }),
  options: "{}",
  model: "demo/demo",
  agent: "general",
  mode: "agent",
  outcome: JSON.stringify({ steps: [], usage: {} }),
  cancel: null,
  joined: null,
  actor: null,
  acceptedCursor: 1,
  acceptedAt: 0,
  startedAt: 0,
  settledAt: null
}

const withGrowing = (check: (growing: Growing, hub: typeof Hub.Service) => void) =>
  Effect.gen(function* () {
    const hub = yield* Hub
    hub.live.enter(toSnapshot(turn, []), 1)
    check(new Growing(hub, turn, 1, []), hub)
  }).pipe(Effect.provide(Hub.layer(ServerName.make("test"))))

it.scoped("reasoning keeps its order, its redacted pieces and a signature that stands alone", () =>
  withGrowing((growing) => {
    growing.take({ _tag: "Reasoning", block: "r1", delta: "first" })
    growing.take({ _tag: "ReasoningEnd", block: "r1", signature: "s1" })
    growing.take({ _tag: "RedactedReasoning", block: "r2", data: "xyz" })
    growing.take({ _tag: "ReasoningEnd", block: "r3", signature: "s3" })
    growing.take({ _tag: "Text", block: "t1", delta: "answer" })
    expect(growing.content()).toEqual([
      { type: "reasoning", text: "first", signature: "s1" },
      { type: "redacted_reasoning", data: "xyz" },
      { type: "reasoning", text: "", signature: "s3" },
      { type: "text", text: "answer" }
    ])
  })
)

it.scoped("L13: a text too long for one row is told in several parts and kept as one, no character cut in two", () =>
  withGrowing((growing, hub) => {
    const text = "🌍".repeat(200_001)
    growing.take({ _tag: "Text", block: "t1", delta: "x" })
    growing.take({ _tag: "Text", block: "t1", delta: text })
    const rows = growing.rows(true)
    expect(rows.length).toBeGreaterThan(1)
    for (const { part } of rows) {
      expect("text" in part && part.text.isWellFormed()).toBe(true)
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(1_048_576)
    }
    expect(growing.content()).toEqual([{ type: "text", text: `x${text}` }])
    expect(hub.live.get("s", "t")?.parts).toEqual(rows.map(({ part }) => ({ ...part, done: false })))
  })
)

it.scoped("after a cut the text goes on in its part, and reasoning is kept from the history", () =>
  withGrowing((growing) => {
    growing.take({ _tag: "Reasoning", block: "r1", delta: "hm" })
    growing.take({ _tag: "Text", block: "t1", delta: "half an " })
    growing.cut()
    growing.take({ _tag: "Text", block: "other", delta: "answer" })
    expect(growing.text).toBe("half an answer")
    expect(growing.content()).toEqual([{ type: "text", text: "half an answer" }])
    expect(growing.rows(true)).toHaveLength(2)
  })
)

const entry = (entryId: string, role: StoredEntry["role"], content: StoredEntry["content"]): StoredEntry => ({
  entryId: EntryId.make(entryId),
  ord: 1,
  role,
  content,
  provider: "demo"
})

it("L7: a request never has an empty text, an orphan result, or a call without its result", () => {
  const callId = CallId.make("call_01ARZ3NDEKTSV4RRFFQ69G5FAV")
  const messages = toMessages(
    [
      entry("a", "user", [{ type: "text", text: "hi" }]),
      entry("b", "assistant", [
        { type: "text", text: "" },
        { type: "call", callId, name: "read", arguments: {} }
      ]),
      entry("c", "user", [{ type: "text", text: "meanwhile" }]),
      entry("d", "assistant", [{ type: "text", text: "" }])
    ],
    "demo"
  )
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"])
  expect(messages[1]?.content).toHaveLength(1)
})
