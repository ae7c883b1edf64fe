import { Schema } from "effect"
import { Cursor, Timestamp } from "../ids.ts"
import { strict } from "../strict.ts"
import { SafeFailure } from "./Failure.ts"
import { JsonObject } from "./Json.ts"
import { PageLimit, WholeNumber } from "./Query.ts"
import { WhenBusy } from "./Submit.ts"

/** The server is there. */
export const HealthResponse = Schema.Struct({
  status: Schema.Literal("ok"),
  protocol: Schema.NonNegativeInt,
  release: Schema.String,
  uptimeMillis: Schema.NonNegativeInt
}).annotations({ identifier: "HealthResponse" })
export type HealthResponseValue = typeof HealthResponse.Type

/** The sizes and numbers a client has to keep to. */
export const Limits = Schema.Struct({
  maxWireBytes: Schema.NonNegativeInt,
  systemPromptMaxBytes: Schema.NonNegativeInt,
  waitMillisMax: Schema.NonNegativeInt,
  pageDefault: Schema.NonNegativeInt,
  pageMax: Schema.NonNegativeInt,
  maxStepsDefault: Schema.NonNegativeInt,
  queueMax: Schema.NonNegativeInt
}).annotations({ identifier: "Limits" })
export type Limits = typeof Limits.Type

/** What this host supports. What it does not have is false, or not in a list. */
export const CapabilitiesResponse = Schema.Struct({
  protocol: Schema.NonNegativeInt,
  release: Schema.String,
  limits: Limits,
  heartbeatMillis: Schema.NonNegativeInt,
  whenBusy: Schema.Array(WhenBusy),
  tools: Schema.Array(Schema.String),
  subAgents: Schema.Boolean,
  voice: Schema.Boolean,
  /** `sqlite` */
  storage: Schema.String,
  /** Provider ids. */
  providers: Schema.Array(Schema.String)
}).annotations({ identifier: "CapabilitiesResponse" })
export type CapabilitiesResponseValue = typeof CapabilitiesResponse.Type

/** From most to least talkative. */
export const DaemonLogLevel = Schema.Literal("trace", "debug", "info", "warn", "error").annotations({
  identifier: "DaemonLogLevel"
})
export type DaemonLogLevelValue = typeof DaemonLogLevel.Type

/** One line of the daemon's log, secrets taken out. */
export const DaemonLogEntry = Schema.Struct({
  cursor: Cursor,
  at: Timestamp,
  level: DaemonLogLevel,
  message: Schema.String,
  fields: JsonObject
}).annotations({ identifier: "DaemonLogEntry" })
export type DaemonLogEntryValue = typeof DaemonLogEntry.Type

/** A page of the daemon's log; `level` is the least that is shown. */
export const DaemonLogQuery = Schema.Struct({
  after: Schema.optional(WholeNumber),
  level: Schema.optional(DaemonLogLevel),
  limit: Schema.optional(PageLimit)
}).annotations({ identifier: "DaemonLogQuery", ...strict })
export type DaemonLogQueryValue = typeof DaemonLogQuery.Type

/** The daemon's log, oldest first. */
export const DaemonLogResponse = Schema.Struct({
  logs: Schema.Array(DaemonLogEntry),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "DaemonLogResponse" })
export type DaemonLogResponseValue = typeof DaemonLogResponse.Type

/** Reads the configuration and what it names anew. */
export const RuntimeReloadRequest = Schema.Struct({ reason: Schema.optional(Schema.String) }).annotations({
  identifier: "RuntimeReloadRequest",
  ...strict
})
export type RuntimeReloadRequestValue = typeof RuntimeReloadRequest.Type

/** What a reload changed, and what could not be read (its old content stays in force). */
export const RuntimeReloadResponse = Schema.Struct({
  revision: Schema.NonNegativeInt,
  changed: Schema.Array(Schema.String),
  failures: Schema.Array(Schema.Struct({ name: Schema.String, failure: SafeFailure }))
}).annotations({ identifier: "RuntimeReloadResponse" })
export type RuntimeReloadResponseValue = typeof RuntimeReloadResponse.Type
