import { PROTOCOL } from "@harness/protocol/jambonz"
import { startTurn } from "./caller.ts"
import type { Draft } from "./Draft.ts"
import { fail } from "./ending.ts"
import { goOn } from "./playing.ts"

/** The socket is open: the call begins with a greeting to be given, or goes on where it was. */
export const opened = (draft: Draft) => {
  const { connection, lastTurn, phase, settings } = draft.call
  if (phase !== "live" || connection._tag === "Up") return
  const resumed = connection._tag === "Gone"
  draft.set({ connection: { _tag: "Up" } })
  const { accountSid, applicationSid, direction, from, language, metadata, sipHeaders, to, tools } = settings
  draft.send({
    type: "session:start",
    protocol: PROTOCOL,
    account_sid: accountSid,
    application_sid: applicationSid,
    direction,
    from,
    to,
    language,
    sip_headers: sipHeaders,
    metadata,
    tools: tools.map((tool) => ("function" in tool ? tool : { type: "function", function: tool })),
    ...(resumed ? { resumed: true as const, last_turn_id: lastTurn } : {})
  })
  if (!resumed) return startTurn(draft, { type: "greeting" })
  if (!settings.keepsReplies) closeReplies(draft)
}

/** What was not done is as it is: its text plays to where it was received, and no more is taken for it. */
const closeReplies = (draft: Draft) => {
  const { held, playing, queue, replies } = draft.call
  const done = { done: true }
  draft.set({
    replies: new Map([...replies].map(([id, state]) => [id, state === "open" ? "closed" : state])),
    playing: playing && { ...playing, ...done },
    queue: queue.map((reply) => ({ ...reply, ...done })),
    held: held && { ...held, ...done }
  })
  goOn(draft)
}

/** The socket could not be opened at all: the harness has no part in this call. */
export const refused = (draft: Draft, message: string): void => {
  if (draft.call.connection._tag === "Opening") fail(draft, { reason: "connect", message })
}

/** The socket is gone, and is opened again: at once, at a time that is given, or never. */
export const gone = (
  draft: Draft,
  how: { readonly again: "at once" | "never" | { readonly afterMs: number }; readonly message: string }
): void => {
  const { connection, drops, now, phase, settings } = draft.call
  if (phase !== "live" || connection._tag !== "Up") return
  const { reconnectMs, reconnects = Number.POSITIVE_INFINITY, speed } = settings
  const by = now + reconnectMs * speed
  const openAt = how.again === "at once" ? now : how.again === "never" ? undefined : now + how.again.afterMs * speed
  draft.set({ connection: { _tag: "Gone", by, openAt }, drops: drops + 1 })
  if (drops >= reconnects) fail(draft, { reason: "disconnected", message: how.message })
}

/** It is time to try, or too late. */
export const reopens = (draft: Draft): void => {
  const { connection } = draft.call
  if (connection._tag !== "Gone" || connection.openAt === undefined) return
  draft.set({ connection: { ...connection, openAt: undefined } })
  draft.happen({ _tag: "Open" })
}

/** The time to come back has passed. */
export const stayedAway = (draft: Draft): void =>
  fail(draft, { reason: "disconnected", message: "the socket could not be opened again in time" })
