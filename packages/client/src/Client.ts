/** A typed client of a Harness server: `HarnessClient` for Effect, `createHarness` for everybody else. */
export type { AskReply, Attending, QuestionReply } from "./Asks.ts"
export type { ConnectOptions } from "./Connection.ts"
export type { ListCompactions } from "./compactions.ts"
export {
  createHarness,
  type EventsInput,
  type Harness,
  type PromptInput,
  type WaitInput,
  type Watching
} from "./createHarness.ts"
export { type ClientError, Disconnected, type DisconnectedReason, ProtocolMismatch } from "./errors.ts"
export { foldTurn, type TurnEvent } from "./fold.ts"
export type { FollowOptions } from "./follow.ts"
export { HarnessClient } from "./HarnessClient.ts"
export { HarnessError } from "./HarnessError.ts"
export { mint } from "./ids.ts"
export type {
  CallAt,
  CompactionAt,
  EntryAt,
  ForkAt,
  GrantAt,
  HookAt,
  PermissionAt,
  QuestionAt,
  ServerAt,
  SessionAt,
  SteerAt,
  TurnAt,
  WebhookAt
} from "./input.ts"
export type { Abortable } from "./promises.ts"
export type { RunTurn, WaitTurn } from "./runTurn.ts"
export type { ListSessions } from "./sessions.ts"
export { type TextChange, textChanges } from "./textChanges.ts"
export type { ListTurns, SubmitPrompt } from "./turns.ts"
