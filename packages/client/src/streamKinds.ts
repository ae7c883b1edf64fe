import {
  ServerStreamEvent,
  type ServerStreamEventValue,
  SessionStreamEvent,
  type SessionStreamEventValue,
  TurnStreamEvent,
  type TurnStreamEventValue
} from "@harness/protocol"
import { SchemaAST as AST, Either, Option, Schema } from "effect"

/** What tells one kind of event stream from another. */
export interface StreamKind<Event> {
  /** The query that resumes it. */
  readonly resume: string
  /** None for a type this client does not know, a Left for a known one that does not fit. */
  readonly decode: (data: string) => Either.Either<Option.Option<Event>, unknown>
  /** The position that a frame without id moves its reader to. `held`: where the reader stands. */
  readonly names: (event: Event, held: number | undefined) => number | undefined
  /** A frame whose id may repeat: it announces, and is no row of the log. */
  readonly announces: (event: Event) => boolean
  /** Nothing follows it. */
  readonly ends: (event: Event) => boolean
  /** Whose log the positions belong to, where that can change under a reader. */
  readonly subject: (event: Event) => string | undefined
}

const typesOf = (ast: AST.AST): ReadonlyArray<string> => {
  if (AST.isUnion(ast)) return ast.types.flatMap(typesOf)
  if (!AST.isTypeLiteral(ast)) return []
  const type = ast.propertySignatures.find(({ name }) => name === "type")?.type
  return type !== undefined && AST.isLiteral(type) ? [String(type.literal)] : []
}

const decoder = <A, I>(schema: Schema.Schema<A, I>): StreamKind<A>["decode"] => {
  const known = new Set(typesOf(schema.ast))
  const json = Schema.decodeEither(
    Schema.parseJson(Schema.Struct({ type: Schema.String }, { key: Schema.String, value: Schema.Unknown }))
  )
  const event = Schema.decodeUnknownEither(schema)
  return (data) =>
    Either.flatMap(json(data), (value) =>
      known.has(value.type) ? Either.map(event(value), Option.some) : Either.right(Option.none())
    )
}

/** A session, with deltas. */
export const sessionStream: StreamKind<SessionStreamEventValue> = {
  resume: "afterCursor",
  decode: decoder(SessionStreamEvent),
  names: (event) => (event.type === "session.cursor" ? event.cursor : undefined),
  announces: () => false,
  ends: (event) => event.type === "session.deleted",
  subject: () => undefined
}

/** A turn, to its end. */
export const turnStream: StreamKind<TurnStreamEventValue> = {
  resume: "afterRevision",
  decode: decoder(TurnStreamEvent),
  names: (event, held) => {
    if (event.type === "turn.heartbeat") return event.revision
    // The snapshot a reader opened with holds every row up to it; a later one only says what has been sent anyway.
    return event.type === "turn.snapshot" && held === undefined ? event.revision : undefined
  },
  announces: () => false,
  ends: (event) => event.type === "turn.terminal",
  subject: (event) => event.turnId
}

/** Every session of a server, without deltas. */
export const serverStream: StreamKind<ServerStreamEventValue> = {
  resume: "afterServerCursor",
  decode: decoder(ServerStreamEvent),
  names: (event) => (event.type === "server.cursor" ? event.serverCursor : undefined),
  announces: (event) => event.type === "session.created" && event.replayed === true,
  ends: () => false,
  subject: () => undefined
}
