import type { TurnChange, TurnPart, TurnSnapshot } from "@harness/protocol"
import { SessionId, TurnId } from "@harness/protocol"
import { plain, row } from "./frames.ts"

export const at = "2026-01-02T03:04:05.678Z"
export const sessionId = SessionId.make("notes")
export const turnId = TurnId.make("turn-1")
export const session = { server: "main", sessionId: "notes" }
export const turn = { ...session, turnId: "turn-1" }

/** A turn as it may be at a revision. */
export const snapshot = (revision: number, more: Partial<TurnSnapshot> = {}): TurnSnapshot => ({
  turnId,
  sessionId,
  revision,
  state: "running",
  model: "demo/demo",
  agent: "general",
  mode: "agent",
  attempt: 1,
  parts: [],
  steps: [],
  usage: {},
  acceptedAt: at,
  prompt: { role: "user", content: [{ type: "text", text: "Say hello" }] },
  ...more
})

/** Growing text. */
export const text = (partId: string, value: string, done = false): TurnPart => ({
  type: "text",
  partId,
  text: value,
  done
})

/** A session, as an answer. */
export const sessionAnswer = {
  sessionId: "notes",
  server: "main",
  title: "",
  workdir: ".",
  model: "demo/demo",
  agent: "general",
  state: "idle",
  configurationRevision: 1,
  cursor: 1,
  createdAt: at
}

const envelope = (cursor: number) => ({ sessionId, cursor, at })

/** Frames of a session's stream. */
export const onSession = {
  title: (cursor: number) => row(cursor, { type: "session.title", ...envelope(cursor), ...{ title: `t${cursor}` } }),
  cursor: (cursor: number) => plain({ type: "session.cursor", ...{ sessionId, cursor } }),
  deleted: (cursor: number) => row(cursor, { type: "session.deleted", ...envelope(cursor), ...{ deletedAt: at } })
}

const turnEnvelope = (revision: number) => ({ ...envelope(revision + 10), turnId, revision })

/** Frames of a turn's stream. */
export const onTurn = {
  opening: (turn: TurnSnapshot) =>
    plain({ type: "turn.snapshot", ...{ sessionId, turnId: turn.turnId, revision: turn.revision, turn } }),
  snapshot: (turn: TurnChange) =>
    row(turn.revision, { type: "turn.snapshot", ...turnEnvelope(turn.revision), ...{ turn } }),
  started: (revision: number) =>
    row(revision, {
      type: "turn.started",
      ...turnEnvelope(revision),
      ...{ model: "demo/demo", agent: "general", mode: "agent" }
    }),
  delta: (partId: string, offset: number, delta: string, attempt = 1) =>
    plain({ type: "turn.text.delta", ...{ sessionId, turnId, attempt, partId, offset, delta } }),
  heartbeat: (revision: number) => plain({ type: "turn.heartbeat", ...{ sessionId, turnId, revision } }),
  terminal: (turn: TurnChange) =>
    row(turn.revision, { type: "turn.terminal", ...turnEnvelope(turn.revision), ...{ turn } }),
  /** The same, behind the reader's cursor. */
  terminalBehind: (turn: TurnChange) => plain({ type: "turn.terminal", ...turnEnvelope(turn.revision), ...{ turn } })
}
