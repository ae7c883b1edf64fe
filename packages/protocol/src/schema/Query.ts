import { Schema } from "effect"
import { SessionId } from "../ids.ts"
import { PAGE_MAX, WAIT_MILLIS_MAX } from "../limits.ts"
import { strict } from "../strict.ts"
import { SessionState } from "./Session.ts"

const digits = Schema.String.pipe(
  Schema.pattern(/^[0-9]+$/, {
    description: "a whole number in plain digits",
    arbitrary: () => (fc) => fc.nat().map(String)
  })
)

/** A whole number in plain digits: no sign, point, exponent or space. More digits than a number holds stay a huge number. */
export const WholeNumber = Schema.transform(digits, Schema.NonNegativeInt, {
  strict: true,
  decode: (text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER),
  encode: String
}).annotations({
  identifier: "WholeNumber",
  description: "a whole number in plain digits",
  jsonSchema: { type: "integer", minimum: 0 }
})

const between = (min: number, max: number) =>
  WholeNumber.pipe(
    Schema.between(min, max, {
      description: `a whole number from ${min} to ${max}`,
      jsonSchema: { type: "integer", minimum: min, maximum: max }
    })
  )

/** Rows of one page. */
export const PageLimit = between(1, PAGE_MAX)
/** Where a page starts: the last id of the page before, or the cursor it gave. */
export const PageCursor = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(512),
  Schema.annotations({ identifier: "PageCursor", description: "the last id, or the cursor the page gave" })
)

/** One page of a list. */
export const pageFields = { limit: Schema.optional(PageLimit), after: Schema.optional(PageCursor) }

const query = <F extends Schema.Struct.Fields, const I extends string>(identifier: I, fields: F) =>
  Schema.Struct(fields).annotations({ identifier, ...strict })

/** A list with no filters. */
export const PageQuery = query("PageQuery", pageFields)
export type PageQueryValue = typeof PageQuery.Type

/** Where a server's stream starts; live when left out. */
export const WatchServerQuery = query("WatchServerQuery", { afterServerCursor: Schema.optional(WholeNumber) })
export type WatchServerQueryValue = typeof WatchServerQuery.Type

/** Where a session's stream starts; live when left out. */
export const WatchSessionQuery = query("WatchSessionQuery", { afterCursor: Schema.optional(WholeNumber) })
export type WatchSessionQueryValue = typeof WatchSessionQuery.Type

/** Where a turn's stream starts; with a whole snapshot when left out. */
export const WatchTurnQuery = query("WatchTurnQuery", { afterRevision: Schema.optional(WholeNumber) })
export type WatchTurnQueryValue = typeof WatchTurnQuery.Type

/** Filters and page of a server's sessions. */
export const SessionListQuery = query("SessionListQuery", {
  ...pageFields,
  workdir: Schema.optional(Schema.String),
  /** Sessions this one spawned. */
  parent: Schema.optional(SessionId),
  state: Schema.optional(SessionState)
})
export type SessionListQueryValue = typeof SessionListQuery.Type

const firstFields = { limit: Schema.optional(PageLimit) }
const afterFields = { ...firstFields, after: PageCursor }
const beforeFields = { ...firstFields, before: PageCursor }

/** The oldest turns. */
export const SessionTurnsFirstQuery = query("SessionTurnsFirstQuery", firstFields)
export type SessionTurnsFirstQueryValue = typeof SessionTurnsFirstQuery.Type
/** Turns on one side of a known one. */
export const SessionTurnsContinuationQuery = Schema.Union(
  Schema.Struct(afterFields).annotations(strict),
  Schema.Struct(beforeFields).annotations(strict)
).annotations({ identifier: "SessionTurnsContinuationQuery" })
export type SessionTurnsContinuationQueryValue = typeof SessionTurnsContinuationQuery.Type
/** A page of a session's turns, always oldest first. */
export const SessionTurnsQuery = Schema.Union(
  Schema.Struct(afterFields).annotations(strict),
  Schema.Struct(beforeFields).annotations(strict),
  Schema.Struct(firstFields).annotations(strict)
).annotations({ identifier: "SessionTurnsQuery" })
export type SessionTurnsQueryValue = typeof SessionTurnsQuery.Type

/** The oldest compactions. */
export const SessionCompactionsFirstQuery = query("SessionCompactionsFirstQuery", firstFields)
export type SessionCompactionsFirstQueryValue = typeof SessionCompactionsFirstQuery.Type
/** Compactions on one side of a known one. */
export const SessionCompactionsContinuationQuery = Schema.Union(
  Schema.Struct(afterFields).annotations(strict),
  Schema.Struct(beforeFields).annotations(strict)
).annotations({ identifier: "SessionCompactionsContinuationQuery" })
export type SessionCompactionsContinuationQueryValue = typeof SessionCompactionsContinuationQuery.Type
/** A page of a session's compactions, always oldest first. */
export const SessionCompactionsQuery = Schema.Union(
  Schema.Struct(afterFields).annotations(strict),
  Schema.Struct(beforeFields).annotations(strict),
  Schema.Struct(firstFields).annotations(strict)
).annotations({ identifier: "SessionCompactionsQuery" })
export type SessionCompactionsQueryValue = typeof SessionCompactionsQuery.Type

/** How long a submitted prompt waits for its turn's end. */
export const SubmitPromptQuery = query("SubmitPromptQuery", {
  waitMillis: Schema.optional(between(0, WAIT_MILLIS_MAX))
})
export type SubmitPromptQueryValue = typeof SubmitPromptQuery.Type
