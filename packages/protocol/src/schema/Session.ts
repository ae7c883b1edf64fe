import { Schema } from "effect"
import { CallId, Cursor, EntryId, ServerName, SessionId, Timestamp, TurnId } from "../ids.ts"
import { SYSTEM_PROMPT_MAX_BYTES } from "../limits.ts"
import { strict } from "../strict.ts"
import { Json, JsonObject } from "./Json.ts"
import { PermissionRule, PolicyLayer } from "./Permission.ts"
import { ExternalTool } from "./Tool.ts"

const utf8Length = (text: string) => new TextEncoder().encode(text).length

/** At most 65,536 UTF-8 bytes. */
export const SystemPrompt = Schema.String.pipe(
  Schema.filter((text) => utf8Length(text) <= SYSTEM_PROMPT_MAX_BYTES, {
    description: `text of at most ${SYSTEM_PROMPT_MAX_BYTES} UTF-8 bytes`
  }),
  Schema.annotations({ identifier: "SystemPrompt" })
)

/** `provider/model`, for example `openai/gpt-5`. */
export const ModelName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\/\S{1,256}$/),
  Schema.annotations({ identifier: "ModelName" })
)

/** An absolute path on the client's machine, resolved by the server against its own root. */
export const ClientWorkdir = Schema.String.pipe(
  Schema.pattern(/^(\/|[A-Za-z]:[\\/])/),
  Schema.maxLength(4096)
).annotations({
  identifier: "ClientWorkdir"
})
export type ClientWorkdirValue = typeof ClientWorkdir.Type

/** Inclusive end of a copied history: a turn's message stands for its whole turn, an appended entry for itself. */
export const SessionHistoryBoundary = Schema.Union(
  Schema.Struct({ turnId: TurnId }),
  Schema.Struct({ entryId: EntryId })
).annotations({ identifier: "SessionHistoryBoundary" })
export type SessionHistoryBoundaryValue = typeof SessionHistoryBoundary.Type

/** `waiting`: its turn can only go on after something from outside. */
export const SessionState = Schema.Literal("idle", "running", "waiting").annotations({ identifier: "SessionState" })
export type SessionState = typeof SessionState.Type

/** Where a fork came from: `turnId` history before it, `through` history up to and with it. */
export const ForkedFrom = Schema.Struct({
  sessionId: SessionId,
  boundary: Schema.optional(
    Schema.Union(Schema.Struct({ turnId: TurnId }), Schema.Struct({ through: SessionHistoryBoundary }))
  )
}).annotations({ identifier: "ForkedFrom" })

/** The call that made a sub-agent's session. */
export const SpawnedFrom = Schema.Struct({ sessionId: SessionId, turnId: TurnId, callId: CallId }).annotations({
  identifier: "SpawnedFrom"
})

/** A session, as it is now. */
export const Session = Schema.Struct({
  sessionId: SessionId,
  server: ServerName,
  title: Schema.String,
  /** Relative to the server root, `.` for the root itself. Never changes. */
  workdir: Schema.String,
  model: Schema.String,
  agent: Schema.String,
  state: SessionState,
  configurationRevision: Schema.Int,
  /** Head of the session's log. */
  cursor: Cursor,
  metadata: Schema.optional(JsonObject),
  forkedFrom: Schema.optional(ForkedFrom),
  spawnedFrom: Schema.optional(SpawnedFrom),
  createdAt: Timestamp
}).annotations({ identifier: "Session" })
export type Session = typeof Session.Type
/** A session, flat. */
export const SessionResponse = Session
export type SessionResponseValue = Session

const configurable = {
  model: Schema.optional(ModelName),
  systemPrompt: Schema.optional(SystemPrompt),
  agent: Schema.optional(Schema.NonEmptyString),
  permissions: Schema.optional(Schema.Array(PermissionRule)),
  tools: Schema.optional(PolicyLayer),
  externalTools: Schema.optional(Schema.Array(ExternalTool))
}

/** The fields that make a session; every one may be left out. */
export const createSessionFields = {
  title: Schema.optional(Schema.String.pipe(Schema.maxLength(1024))),
  workdir: Schema.optional(Schema.String.pipe(Schema.maxLength(4096))),
  clientWorkdir: Schema.optional(ClientWorkdir),
  metadata: Schema.optional(JsonObject),
  ...configurable
}
/** Makes a session. */
export const CreateSessionRequest = Schema.Struct(createSessionFields).annotations({
  identifier: "CreateSessionRequest",
  ...strict
})
export type CreateSessionRequestValue = typeof CreateSessionRequest.Type

/** Changes a title. */
export const UpdateSessionRequest = Schema.Struct({
  title: Schema.String.pipe(Schema.maxLength(1024))
}).annotations({ identifier: "UpdateSessionRequest", ...strict })
export type UpdateSessionRequestValue = typeof UpdateSessionRequest.Type

/** What a session's next turn runs with; `revision` grows by one with each change. */
export const SessionConfiguration = Schema.Struct({
  revision: Schema.Int,
  model: Schema.String,
  systemPrompt: Schema.String,
  agent: Schema.String,
  permissions: Schema.Array(PermissionRule),
  tools: PolicyLayer,
  externalTools: Schema.Array(ExternalTool)
}).annotations({ identifier: "SessionConfiguration" })
export type SessionConfiguration = typeof SessionConfiguration.Type
/** A configuration, flat. */
export const SessionConfigurationResponse = SessionConfiguration
export type SessionConfigurationResponseValue = SessionConfiguration

/** Replaces the configuration whole; a field left out goes back to its default. */
export const ReplaceSessionConfigurationRequest = Schema.Struct({
  expectedRevision: Schema.Int,
  ...configurable
}).annotations({ identifier: "ReplaceSessionConfigurationRequest", ...strict })
export type ReplaceSessionConfigurationRequestValue = typeof ReplaceSessionConfigurationRequest.Type

/** Sessions, oldest first. */
export const SessionListResponse = Schema.Struct({
  sessions: Schema.Array(Session),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "SessionListResponse" })
export type SessionListResponseValue = typeof SessionListResponse.Type

/** Sessions a session spawned, oldest first. */
export const SessionChildrenResponse = Schema.Struct({
  children: Schema.Array(Session),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "SessionChildrenResponse" })
export type SessionChildrenResponseValue = typeof SessionChildrenResponse.Type

/** When a session was deleted, however often it is asked for. */
export const SessionDeletedResponse = Schema.Struct({
  sessionId: SessionId,
  deletedAt: Timestamp
}).annotations({ identifier: "SessionDeletedResponse" })
export type SessionDeletedResponseValue = typeof SessionDeletedResponse.Type

/** How much went with a server. */
export const ServerDeletedResponse = Schema.Struct({
  server: ServerName,
  /** Sessions this call deleted; 0 when nothing was there. */
  sessions: Schema.NonNegativeInt
}).annotations({ identifier: "ServerDeletedResponse" })
export type ServerDeletedResponseValue = typeof ServerDeletedResponse.Type

/** Says why. */
export const DeleteSessionRequest = Schema.Struct({ reason: Schema.optional(Schema.String) }).annotations({
  identifier: "DeleteSessionRequest",
  ...strict
})
export type DeleteSessionRequestValue = typeof DeleteSessionRequest.Type

/** An absent body forks the whole settled history. `turnId`: history before that turn; `through`: up to and with it. */
export const ForkSessionRequest = Schema.Struct({
  turnId: Schema.optional(TurnId),
  through: Schema.optional(SessionHistoryBoundary),
  visibility: Schema.optional(Schema.Literal("all", "actor"))
})
  .pipe(
    Schema.filter((fork) => fork.turnId === undefined || fork.through === undefined, {
      description: "a fork by turnId or through, not both"
    })
  )
  .annotations({ identifier: "ForkSessionRequest", ...strict })
export type ForkSessionRequestValue = typeof ForkSessionRequest.Type

/** What a session is doing, and what it waits on. */
export const SessionStatusResponse = Schema.Struct({
  state: SessionState,
  activeTurnId: Schema.optional(TurnId),
  lastTurnId: Schema.optional(TurnId),
  queued: Schema.NonNegativeInt,
  /** 0 for a session nobody spawned. */
  depth: Schema.NonNegativeInt,
  step: Schema.NonNegativeInt,
  maxSteps: Schema.NonNegativeInt,
  turnCount: Schema.NonNegativeInt,
  pendingCalls: Schema.Array(CallId),
  children: Schema.Array(Schema.Struct({ callId: CallId, sessionId: SessionId, turnId: TurnId })),
  waitingOn: Schema.Array(Schema.Struct({ kind: Schema.String, id: Schema.String })),
  result: Schema.optional(Json),
  resultError: Schema.optional(Schema.String)
}).annotations({ identifier: "SessionStatusResponse" })
export type SessionStatusResponseValue = typeof SessionStatusResponse.Type
