import { assert, describe, it } from "@effect/vitest"
import type { TurnPart, TurnSnapshot, TurnStreamEventValue } from "@harness/protocol"
import { CallId, PermissionRequestId, SessionId, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import { coloured, plain, styleFor } from "../src/render/style.ts"
import { Transcript } from "../src/render/Transcript.ts"
import { harmless, oneLine } from "../src/render/text.ts"
import type { Writer } from "../src/Surroundings.ts"

const writer = (isTerminal: boolean): Writer => ({
  write: () => Effect.void,
  push: () => {},
  isTerminal,
  columns: 80,
  style: plain
})

const turn: TurnSnapshot = {
  turnId: TurnId.make("t"),
  sessionId: SessionId.make("s"),
  revision: 1,
  state: "running",
  prompt: { role: "user", content: [{ type: "text", text: "hi" }] },
  model: "demo/demo",
  agent: "general",
  mode: "agent",
  attempt: 1,
  parts: [],
  steps: [],
  usage: {},
  acceptedAt: "2026-01-01T00:00:00.000Z"
}

const opening = (parts: ReadonlyArray<TurnPart> = []): TurnStreamEventValue => ({
  type: "turn.snapshot",
  sessionId: turn.sessionId,
  turnId: turn.turnId,
  revision: 1,
  turn: { ...turn, parts }
})
let revision = 1
const row = (parts: ReadonlyArray<TurnPart>, attempt = 1): TurnStreamEventValue => {
  revision += 1
  return {
    type: "turn.snapshot",
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    cursor: revision,
    revision,
    at: turn.acceptedAt,
    turn: { ...turn, revision, attempt, parts }
  }
}
const delta = (kind: "text" | "reasoning", partId: string, offset: number, text: string): TurnStreamEventValue => ({
  type: `turn.${kind}.delta`,
  sessionId: turn.sessionId,
  turnId: turn.turnId,
  attempt: 1,
  partId,
  offset,
  delta: text
})
const text = (partId: string, said: string): TurnPart => ({ type: "text", partId, text: said, done: true })
const call: TurnPart = {
  type: "tool",
  partId: "c",
  callId: CallId.make("call_01M8PSS5FV10S3N6BJFP3VSJQ4"),
  name: "shell",
  arguments: { command: "ls\n-l" },
  state: "requested",
  idempotencyKey: "k"
}
const result: TurnPart = {
  ...call,
  state: "failed",
  result: { content: [{ type: "text", text: "no\nsuch file" }], isError: true }
}

const shown = (events: ReadonlyArray<TurnStreamEventValue>, terminal: boolean) => {
  const transcript = new Transcript(writer(terminal), writer(terminal))
  const pieces = [...events.flatMap((event) => transcript.take(event)), ...transcript.end()]
  const of = (to: string) => pieces.flatMap((piece) => (piece.to === to ? [piece.text] : [])).join("")
  return { out: of("out"), err: of("err"), screen: pieces.map(({ text }) => text).join("") }
}

describe("the transcript of a turn", () => {
  it("is the answer alone on one stream, each part from the start of a line", () => {
    const events = [opening(), delta("text", "a", 0, "Hel"), delta("text", "a", 3, "lo"), row([text("a", "Hello!")])]
    const { err, out } = shown([...events, row([call]), row([result]), row([text("b", "Done.\n")])], false)
    assert.strictEqual(out, "Hello!\nDone.\n")
    assert.strictEqual(err, "→ shell ls -l\n← shell failed: no such file\n")
  })

  it("never puts two things on one line of a screen", () => {
    const events = [opening(), delta("reasoning", "r", 0, "hm"), delta("text", "a", 0, "Hel"), row([call])]
    const { screen } = shown([...events, row([text("b", "lo")])], true)
    assert.strictEqual(screen, "hm\nHel\n→ shell ls -l\nlo\n")
  })

  it("says nothing twice, however the turn is first seen", () => {
    const { err, out } = shown([opening([call, text("a", "Hi")]), row([text("a", "Hi")]), row([result])], false)
    assert.strictEqual(out, "Hi\n")
    assert.strictEqual(err, "→ shell ls -l\n← shell failed: no such file\n")
  })

  it("adds nothing to a text that is cut into parts", () => {
    const { out } = shown([opening([text("a", "Hel"), text("b", "lo")]), row([text("d", "!"), call])], false)
    assert.strictEqual(out, "Hello!\n")
  })

  it("leaves what is asked to whoever asks it, and says what else a turn waits for", () => {
    const waiting = (name: string, callId: string): TurnPart => ({ ...call, name, partId: callId, state: "waiting" })
    const wait = (...parts: ReadonlyArray<TurnPart>): TurnStreamEventValue => {
      const event = row(parts)
      return event.type === "turn.snapshot" && "at" in event
        ? { ...event, turn: { ...event.turn, state: "waiting" } }
        : event
    }
    const ask: TurnStreamEventValue = {
      type: "turn.approval.resolved",
      sessionId: turn.sessionId,
      turnId: turn.turnId,
      cursor: 1,
      revision: 1,
      at: turn.acceptedAt,
      requestId: PermissionRequestId.make("req_01M8PSS5FV10S3N6BJFP3VSJQ4"),
      reply: "once"
    }
    const asked: TurnStreamEventValue = {
      ...ask,
      type: "turn.approval.requested",
      request: {
        requestId: ask.requestId,
        sessionId: turn.sessionId,
        turnId: turn.turnId,
        callId: call.callId,
        permission: "shell",
        patterns: [],
        title: "Run ls",
        detail: "ls",
        always: [],
        askedAt: turn.acceptedAt
      }
    }
    const lines = (events: ReadonlyArray<TurnStreamEventValue>) =>
      shown([opening(), ...events], false)
        .err.split("\n")
        .filter((line) => line.startsWith("…"))
    assert.deepStrictEqual(lines([asked, wait(waiting("shell", "c"))]), [])
    assert.deepStrictEqual(lines([asked, ask, wait(waiting("shell", "c"))]), ["… waiting for something from outside"])
    assert.deepStrictEqual(lines([wait(waiting("task", "c"))]), ["… waiting for a sub-agent"])
    assert.deepStrictEqual(lines([wait(waiting("task", "c"), waiting("task", "d"))]), ["… waiting for 2 sub-agents"])
  })

  it("says so when a crash took words that were already shown", () => {
    const { err, out } = shown([opening(), delta("text", "a", 0, "one two"), row([text("a", "one 2")], 2)], false)
    assert.strictEqual(out, "one two\n2\n")
    assert.include(err, "attempt 2")
    assert.include(err, "part of the answer was lost")
  })

  it("obeys no control characters of a model on a screen, and leaves a pipe's bytes alone", () => {
    const evil = "a\u001b[2Jb\u0007\r\nc\u009b"
    assert.strictEqual(shown([opening([text("a", evil)])], true).out, "a␛[2Jb␇\nc\ufffd\n")
    assert.strictEqual(shown([opening([text("a", evil)])], false).out, `${evil}\n`)
  })
})

describe("text of others", () => {
  it("is one line where a line is due", () => {
    assert.strictEqual(oneLine("a\n\tb\u001b  c"), "a b␛ c")
    assert.strictEqual(oneLine("🌍".repeat(10), 4), "🌍🌍🌍…")
    assert.strictEqual(oneLine("x".repeat(1_000_000), 3), "xx…")
    assert.strictEqual(harmless("tab\tand\nline"), "tab\tand\nline")
  })
})

describe("colours", () => {
  it("are for a terminal whose owner did not say no", () => {
    assert.strictEqual(styleFor(true, {}), coloured)
    assert.strictEqual(styleFor(false, {}), plain)
    assert.strictEqual(styleFor(true, { NO_COLOR: "1" }), plain)
    assert.strictEqual(styleFor(true, { TERM: "dumb" }), plain)
    assert.strictEqual(coloured.red("x"), `${String.fromCharCode(27)}[31mx${String.fromCharCode(27)}[39m`)
  })
})
