import { timingSafeEqual } from "node:crypto"
import type { RequestActor, Scope, ServerName } from "@harness/protocol"
import { Clock, Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { ulid } from "ulid"
import {
  adminToken,
  changeTokens,
  hashOf,
  mintToken,
  readTokens,
  stampOf,
  type TokenRecord,
  TokensError,
  tokensPath
} from "./tokenFile.ts"

export { TokensError } from "./tokenFile.ts"

/** A change another process made to the file counts after this time at the latest. */
const RELOAD_MILLIS = 500

/** Whom a new token is for, and what it allows. No `servers`: every server. */
export interface NewToken {
  readonly actor: string
  readonly scopes: readonly [Scope, ...ReadonlyArray<Scope>]
  readonly servers?: readonly [ServerName, ...ReadonlyArray<ServerName>]
}

/** A token as it may be shown. */
export type TokenInfo = Omit<TokenRecord, "hash">

/** Who a bearer is; the client id comes with the request. */
export type TokenActor = Omit<RequestActor, "clientId">

/** The tokens of the file, as the CLI lists them; none when there is no file. */
export const fileTokens = (data: string): Effect.Effect<ReadonlyArray<TokenInfo>, TokensError> =>
  Effect.map(readTokens(tokensPath(data)), (records) => records.map(({ hash: _, ...info }) => info))

interface Known {
  readonly hash: Buffer
  readonly actor: TokenActor
}

const admin = (token: string): Known => ({ hash: hashOf(token), actor: { actorId: "admin", scopes: ["admin"] } })

/** Found by the first bytes of its hash, recognised by the whole of it in constant time. */
const keyOf = (hash: Buffer) => hash.readUInt32BE(0)

const known = (record: TokenRecord): Known => ({
  hash: Buffer.from(record.hash, "hex"),
  actor: {
    actorId: record.actor,
    scopes: record.scopes,
    ...(record.servers === undefined ? {} : { servers: record.servers })
  }
})

const index = (all: ReadonlyArray<Known>) => {
  const byKey = new Map<number, ReadonlyArray<Known>>()
  for (const one of all) byKey.set(keyOf(one.hash), [...(byKey.get(keyOf(one.hash)) ?? []), one])
  return byKey
}

const actorName = /^[^\p{Cc}]{1,128}$/u

/** Who may call, and what they may do. Only hashes are kept: a token is shown once, when it is made. */
export class Tokens extends Context.Tag("@harness/server/Tokens")<
  Tokens,
  {
    readonly add: (
      token: NewToken
    ) => Effect.Effect<{ readonly tokenId: string; readonly token: Redacted.Redacted }, TokensError>
    readonly list: Effect.Effect<ReadonlyArray<TokenInfo>, TokensError>
    /** False when there is no such token. */
    readonly revoke: (tokenId: string) => Effect.Effect<boolean, TokensError>
    readonly find: (bearer: string) => Effect.Effect<Option.Option<TokenActor>>
    /** Tokens this process knows in plain text, for the log to leave out. */
    readonly secrets: ReadonlyArray<Redacted.Redacted>
  }
>() {
  /** The file alone, for the CLI: no admin token is made. */
  static readonly layerFile = (options: { readonly data: string }) => Layer.effect(Tokens, make(options.data, []))

  /** What a server accepts: the file's tokens, the admin's in `<data>/token` and, if given, `HARNESS_TOKEN`. */
  static readonly layer = (options: { readonly data: string; readonly token?: Redacted.Redacted | undefined }) =>
    Layer.effect(
      Tokens,
      Effect.flatMap(adminToken(options.data), (own) =>
        make(options.data, [Redacted.make(own), ...(options.token === undefined ? [] : [options.token])])
      )
    )
}

const make = (data: string, admins: ReadonlyArray<Redacted.Redacted>) =>
  Effect.gen(function* () {
    const path = tokensPath(data)
    const always = admins.map((token) => admin(Redacted.value(token)))
    let stamp = yield* stampOf(path)
    let checkedAt = yield* Clock.currentTimeMillis
    let byKey = index([...always, ...(yield* readTokens(path)).map(known)])

    // A file that became unreadable changes nothing: who was known stays known, and the log says so.
    const reload = Effect.gen(function* () {
      const now = yield* stampOf(path)
      if (now === stamp) return
      stamp = now
      byKey = index([...always, ...(yield* readTokens(path)).map(known)])
    }).pipe(Effect.catchAll((error) => Effect.logError(`Tokens not reloaded: ${error.message}`)))

    const lookUp = (bearer: string): Option.Option<TokenActor> => {
      const hash = hashOf(bearer)
      const found = byKey.get(keyOf(hash))?.find((one) => timingSafeEqual(one.hash, hash))
      return Option.fromNullable(found?.actor)
    }

    const add = Effect.fn("Tokens.add")(function* (token: NewToken) {
      if (!actorName.test(token.actor)) {
        return yield* new TokensError({ path, reason: "an actor's name is 1 to 128 characters on one line" })
      }
      const plain = mintToken()
      const now = yield* DateTime.now
      const record: TokenRecord = {
        tokenId: `tok_${ulid(DateTime.toEpochMillis(now))}`,
        actor: token.actor,
        scopes: token.scopes,
        ...(token.servers === undefined ? {} : { servers: token.servers }),
        hash: hashOf(plain).toString("hex"),
        createdAt: DateTime.formatIso(now)
      }
      yield* changeTokens(path, (before) => [undefined, [...before, record]])
      yield* reload
      return { tokenId: record.tokenId, token: Redacted.make(plain) }
    })

    const revoke = Effect.fn("Tokens.revoke")(function* (tokenId: string) {
      const revoked = yield* changeTokens(path, (before) => {
        const after = before.filter((record) => record.tokenId !== tokenId)
        return after.length === before.length ? [false, before] : [true, after]
      })
      yield* reload
      return revoked
    })

    const find = (bearer: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - checkedAt < RELOAD_MILLIS) return Effect.succeed(lookUp(bearer))
        checkedAt = now
        return Effect.map(reload, () => lookUp(bearer))
      })

    return { add, list: fileTokens(data), revoke, find, secrets: admins }
  })
