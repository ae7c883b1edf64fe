import {
  CallId,
  type PermissionRequest,
  PermissionRequestId,
  type Question,
  QuestionId,
  SessionId,
  TurnId
} from "@harness/protocol"
import type { Ask } from "../../src/OpenAsks.ts"
import { plain, row } from "./frames.ts"
import { at, sessionAnswer, sessionId, turnId } from "./log.ts"

const ulid = (n: number) => String(n).padStart(26, "0")

/** The nth permission request, of this turn or of another session's. */
export const request = (n: number, session = "notes", turn = "turn-1"): PermissionRequest => ({
  requestId: PermissionRequestId.make(`req_${ulid(n)}`),
  sessionId: SessionId.make(session),
  turnId: TurnId.make(turn),
  callId: CallId.make(`call_${ulid(n)}`),
  permission: "shell",
  patterns: ["npm test"],
  title: "Run npm test",
  detail: "npm test",
  always: ["npm test"],
  askedAt: at
})

/** The nth question. */
export const question = (n: number, session = "notes", turn = "turn-1"): Question => ({
  questionId: QuestionId.make(`que_${ulid(n)}`),
  sessionId: SessionId.make(session),
  turnId: TurnId.make(turn),
  callId: CallId.make(`call_${ulid(n)}`),
  questions: [{ question: "Which?", header: "", options: [{ label: "a", description: "" }] }],
  askedAt: at
})

/** The nth permission request, as an ask. */
export const permission = (n: number): Ask => ({ kind: "permission", id: request(n).requestId, request: request(n) })

const envelope = (position: number) => ({ sessionId, turnId, cursor: position + 10, revision: position, at })

/** What a turn's stream says of its own asks. */
export const onTurnAsks = {
  requested: (revision: number, request: PermissionRequest) =>
    row(revision, { type: "turn.approval.requested", ...envelope(revision), ...{ request } }),
  resolved: (revision: number, { requestId }: PermissionRequest) =>
    row(revision, { type: "turn.approval.resolved", ...envelope(revision), ...{ requestId, reply: "once" } }),
  asked: (revision: number, question: Question) =>
    row(revision, { type: "turn.question.asked", ...envelope(revision), ...{ question } })
}

const below = (serverCursor: number, session: string) => ({
  sessionId: session,
  turnId: "turn-2",
  cursor: serverCursor,
  revision: serverCursor,
  at,
  serverCursor
})

/** What a server's stream says. */
export const onServer = {
  cursor: (serverCursor: number) => plain({ type: "server.cursor", ...{ server: "main", serverCursor } }),
  created: (serverCursor: number, child: string, parent?: string) =>
    row(serverCursor, {
      type: "session.created",
      ...{ serverCursor, sessionId: child, cursor: 1, at },
      ...{
        session: {
          ...sessionAnswer,
          sessionId: child,
          ...(parent === undefined
            ? {}
            : { spawnedFrom: { sessionId: parent, turnId: "turn-1", callId: `call_${ulid(9)}` } })
        }
      }
    }),
  requested: (serverCursor: number, request: PermissionRequest) =>
    row(serverCursor, {
      type: "session.turn.approval.requested",
      ...below(serverCursor, request.sessionId),
      ...{ request }
    }),
  resolved: (serverCursor: number, { requestId, sessionId }: PermissionRequest) =>
    row(serverCursor, {
      type: "session.turn.approval.resolved",
      ...below(serverCursor, sessionId),
      ...{ requestId, reply: "once" }
    })
}
