import { Schema } from "effect"
import { idForm } from "../idForm.ts"
import { CompactionId, EntryId, HookId, ServerName, SessionId, TurnId, WebhookId } from "../ids.ts"
import { params } from "../request.ts"

/** An id the server mints, as a path names it: one that was never minted is not found, and not a wrong request. */
const named = <const B extends string>(brand: B) => Schema.String.pipe(Schema.pattern(idForm), Schema.brand(brand))

const server = { server: ServerName }
const session = { ...server, sessionId: SessionId }

/** `S` */
export const serverPath = params(server)
/** `N` */
export const sessionPath = params(session)
/** `T` */
export const turnPath = params({ ...session, turnId: TurnId })
/** A session, and the one its history is copied to. */
export const forkPath = params({ ...session, forkedSessionId: SessionId })
/** An entry of a session. */
export const entryPath = params({ ...session, entryId: EntryId })
/** A steer of a turn. */
export const steerPath = params({ ...session, turnId: TurnId, entryId: EntryId })
/** A permission request of a session. */
export const permissionPath = params({ ...session, requestId: named("PermissionRequestId") })
/** A saved grant of a session. */
export const grantPath = params({ ...session, grantId: named("GrantId") })
/** A question of a session. */
export const questionPath = params({ ...session, questionId: named("QuestionId") })
/** A call of a turn. */
export const callPath = params({ ...session, turnId: TurnId, callId: named("CallId") })
/** A compaction of a session. */
export const compactionPath = params({ ...session, compactionId: CompactionId })
/** A hook of a server. */
export const hookPath = params({ ...server, hookId: HookId })
/** A webhook of a server. */
export const webhookPath = params({ ...server, webhookId: WebhookId })
