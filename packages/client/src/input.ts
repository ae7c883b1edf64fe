import {
  CompactionId,
  EntryId,
  HookId,
  ServerName,
  SessionId,
  schemaIssues,
  TurnId,
  ValidationError,
  WebhookId
} from "@harness/protocol"
import { Effect, Schema } from "effect"

/** A server, by name. */
export interface ServerAt {
  readonly server: string
}
/** A session of a server. */
export interface SessionAt extends ServerAt {
  readonly sessionId: string
}
/** A turn of a session. */
export interface TurnAt extends SessionAt {
  readonly turnId: string
}
/** A fork of a session, under the id it is to have. */
export interface ForkAt extends SessionAt {
  readonly forkedSessionId: string
}
/** An entry of a session. */
export interface EntryAt extends SessionAt {
  readonly entryId: string
}
/** A steer of a turn. */
export interface SteerAt extends TurnAt {
  readonly entryId: string
}

/** A permission request of a session. */
export interface PermissionAt extends SessionAt {
  readonly requestId: string
}
/** A saved grant of a session. */
export interface GrantAt extends SessionAt {
  readonly grantId: string
}
/** A question of a session. */
export interface QuestionAt extends SessionAt {
  readonly questionId: string
}
/** A call of a turn. */
export interface CallAt extends TurnAt {
  readonly callId: string
}
/** A compaction of a session. */
export interface CompactionAt extends SessionAt {
  readonly compactionId: string
}
/** A hook of a server. */
export interface HookAt extends ServerAt {
  readonly hookId: string
}
/** A webhook of a server. */
export interface WebhookAt extends ServerAt {
  readonly webhookId: string
}

const isId = Schema.is(EntryId)
/** An id the server mints: one that was never minted is not found, and no wrong request. */
const minted = <const B extends string>(brand: B) =>
  Schema.String.pipe(
    Schema.filter((text) => isId(text), { description: "an id" }),
    Schema.brand(brand)
  )

/** The ids of each kind of path. */
export const serverPath = Schema.Struct({ server: ServerName })
export const sessionPath = Schema.Struct({ ...serverPath.fields, sessionId: SessionId })
export const turnPath = Schema.Struct({ ...sessionPath.fields, turnId: TurnId })
export const forkPath = Schema.Struct({ ...sessionPath.fields, forkedSessionId: SessionId })
export const entryPath = Schema.Struct({ ...sessionPath.fields, entryId: EntryId })
export const steerPath = Schema.Struct({ ...turnPath.fields, entryId: EntryId })
export const permissionPath = Schema.Struct({ ...sessionPath.fields, requestId: minted("PermissionRequestId") })
export const grantPath = Schema.Struct({ ...sessionPath.fields, grantId: minted("GrantId") })
export const questionPath = Schema.Struct({ ...sessionPath.fields, questionId: minted("QuestionId") })
export const callPath = Schema.Struct({ ...turnPath.fields, callId: minted("CallId") })
export const compactionPath = Schema.Struct({ ...sessionPath.fields, compactionId: CompactionId })
export const hookPath = Schema.Struct({ ...serverPath.fields, hookId: HookId })
export const webhookPath = Schema.Struct({ ...serverPath.fields, webhookId: WebhookId })

/** Checks a value before it is sent; fails as the server would. */
export const checked = <A, I>(schema: Schema.Schema<A, I>): ((value: unknown) => Effect.Effect<A, ValidationError>) => {
  const decode = Schema.decodeUnknown(Schema.typeSchema(schema), { errors: "all", onExcessProperty: "error" })
  return (value) =>
    Effect.mapError(decode(value), (error) => {
      const issues = schemaIssues(error)
      const message = issues.map(({ path, reason }) => `${path === "" ? "the request" : path} ${reason}`).join("; ")
      return new ValidationError({ code: "request.invalid", message, details: { issues } })
    })
}

const part = (value: object, keep: (key: string) => boolean) =>
  Object.fromEntries(Object.entries(value).filter(([key, field]) => field !== undefined && keep(key)))

/** The ids of a path, out of an input that says more. */
export const located = <F extends Schema.Struct.Fields & Record<string, Schema.Schema.AnyNoContext>>(
  path: Schema.Struct<F>
) => {
  const ids = checked(Schema.typeSchema(path))
  return (input: object) => ids(part(input, (key) => key in path.fields))
}

/** Parts an input into the ids of its path and the rest, and checks both. */
export const parted = <F extends Schema.Struct.Fields & Record<string, Schema.Schema.AnyNoContext>, A, I>(
  path: Schema.Struct<F>,
  rest: Schema.Schema<A, I>
) => {
  const ids = located(path)
  const others = checked(rest)
  return (input: object) =>
    Effect.all({
      path: ids(input),
      rest: others(part(input, (key) => !(key in path.fields)))
    })
}

/** The same for a body that may be absent: null when the input names nothing but ids. */
export const partedOptional = <F extends Schema.Struct.Fields & Record<string, Schema.Schema.AnyNoContext>, A, I>(
  path: Schema.Struct<F>,
  rest: Schema.Schema<A, I>
) => {
  const whole = parted(path, rest)
  return (input: object) =>
    Effect.map(whole(input), (found) => ({
      path: found.path,
      rest: Object.entries(input).some(([key, field]) => field !== undefined && !(key in path.fields))
        ? found.rest
        : null
    }))
}
