import { EntryId, ServerName, SessionId, TurnId } from "../ids.ts"
import { params } from "../request.ts"

/** `S` */
export const serverPath = params({ server: ServerName })
/** `N` */
export const sessionPath = params({ server: ServerName, sessionId: SessionId })
/** `T` */
export const turnPath = params({ server: ServerName, sessionId: SessionId, turnId: TurnId })
export const forkPath = params({ server: ServerName, sessionId: SessionId, forkedSessionId: SessionId })
export const entryPath = params({ server: ServerName, sessionId: SessionId, entryId: EntryId })
export const steerPath = params({ server: ServerName, sessionId: SessionId, turnId: TurnId, entryId: EntryId })
