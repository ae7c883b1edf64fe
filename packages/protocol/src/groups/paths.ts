import { EntryId, ServerName, SessionId, TurnId } from "../ids.ts"
import { params } from "../request.ts"

/** `S` */
export const serverPath = params({ server: ServerName })
/** `N` */
export const sessionPath = params({ server: ServerName, sessionId: SessionId })
/** `T` */
export const turnPath = params({ server: ServerName, sessionId: SessionId, turnId: TurnId })
/** A session, and the one its history is copied to. */
export const forkPath = params({ server: ServerName, sessionId: SessionId, forkedSessionId: SessionId })
/** An entry of a session. */
export const entryPath = params({ server: ServerName, sessionId: SessionId, entryId: EntryId })
/** A steer of a turn. */
export const steerPath = params({ server: ServerName, sessionId: SessionId, turnId: TurnId, entryId: EntryId })
