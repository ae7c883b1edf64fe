import { hash, randomBytes } from "node:crypto"
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from "node:fs"
import { dirname, join } from "node:path"
import { Scope, ServerName, Timestamp } from "@harness/protocol"
import { Clock, Data, Effect, Schedule, Schema } from "effect"

/** The token file cannot be used; says which file, never what is in it. */
export class TokensError extends Data.TaggedError("TokensError")<{ readonly path: string; readonly reason: string }> {
  override get message() {
    return `${this.path}: ${this.reason}`
  }
}

/** One token as it is kept: what it allows, and the hash that recognises it. */
export const TokenRecord = Schema.Struct({
  tokenId: Schema.String,
  actor: Schema.String,
  scopes: Schema.NonEmptyArray(Scope),
  servers: Schema.optional(Schema.NonEmptyArray(ServerName)),
  hash: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
  createdAt: Timestamp
})
export type TokenRecord = typeof TokenRecord.Type

const TokenFile = Schema.Struct({ version: Schema.Literal(1), tokens: Schema.Array(TokenRecord) })
const decode = Schema.decodeUnknown(Schema.parseJson(TokenFile))

export const tokensPath = (data: string) => join(data, "tokens.json")

/** 256 random bits: a plain hash of it can be kept, no salt or stretching helps against guessing. */
export const mintToken = () => `hrn_${randomBytes(32).toString("base64url")}`
export const hashOf = (token: string): Buffer => hash("sha256", token, "buffer")

const codeOf = (cause: unknown) => (cause instanceof Error && "code" in cause ? cause.code : undefined)

/** Tells one version of the file from another without reading it: a rename gives a new inode. */
export const stampOf = (path: string): Effect.Effect<string> =>
  Effect.sync(() => {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat === undefined ? "absent" : `${stat.ino}.${stat.mtimeMs}.${stat.size}`
  })

/** Every token in the file; none when there is no file. */
export const readTokens = (path: string): Effect.Effect<ReadonlyArray<TokenRecord>, TokensError> =>
  Effect.try(() => readFileSync(path, "utf8")).pipe(
    Effect.matchEffect({
      onFailure: ({ error }) =>
        codeOf(error) === "ENOENT"
          ? Effect.succeed([])
          : Effect.fail(new TokensError({ path, reason: "cannot be read" })),
      onSuccess: (text) =>
        decode(text).pipe(
          Effect.mapBoth({
            onSuccess: (file) => file.tokens,
            onFailure: () => new TokensError({ path, reason: "is not a token file" })
          })
        )
    })
  )

const writeSynced = (path: string, text: string) => {
  const file = openSync(path, "wx", 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
}

const attempt = <A>(path: string, run: () => A) =>
  Effect.try({ try: run, catch: () => new TokensError({ path, reason: "cannot be written" }) })

const write = (path: string, tokens: ReadonlyArray<TokenRecord>) =>
  attempt(path, () => {
    const next = `${path}.${randomBytes(6).toString("hex")}`
    writeSynced(next, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`)
    renameSync(next, path)
  })

// The server and the CLI may both change the file: the lock file makes read, change and rename one step.
const lockWait = Schedule.spaced("20 millis").pipe(Schedule.upTo("5 seconds"))
const LOCK_STALE_MILLIS = 10_000

const lock = (path: string) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    return yield* Effect.try({
      try: () => {
        const stat = statSync(path, { throwIfNoEntry: false })
        if (stat !== undefined && now - stat.mtimeMs > LOCK_STALE_MILLIS) rmSync(path, { force: true })
        writeSynced(path, "")
      },
      catch: (cause) =>
        new TokensError({ path, reason: codeOf(cause) === "EEXIST" ? "is held by another process" : "cannot be made" })
    })
  }).pipe(Effect.retry({ schedule: lockWait, while: (error) => error.reason === "is held by another process" }))

/** Changes the file whole, against whoever else may be changing it. */
export const changeTokens = <A>(
  path: string,
  change: (tokens: ReadonlyArray<TokenRecord>) => readonly [A, ReadonlyArray<TokenRecord>]
): Effect.Effect<A, TokensError> =>
  attempt(path, () => mkdirSync(dirname(path), { recursive: true, mode: 0o700 })).pipe(
    Effect.zipRight(
      Effect.acquireUseRelease(
        lock(`${path}.lock`),
        () =>
          Effect.gen(function* () {
            const before = yield* readTokens(path)
            const [result, after] = change(before)
            if (after !== before) yield* write(path, after)
            return result
          }),
        () => Effect.sync(() => rmSync(`${path}.lock`, { force: true }))
      )
    )
  )

/** The admin's token in `<data>/token`, made on first use. Only its owner may read the file. */
export const adminToken = (data: string): Effect.Effect<string, TokensError> => {
  const path = join(data, "token")
  const read = Effect.sync(() => statSync(path, { throwIfNoEntry: false }) !== undefined).pipe(
    Effect.flatMap((exists) =>
      attempt(path, () => {
        if (!exists) return ""
        chmodSync(path, 0o600)
        return readFileSync(path, "utf8").trim()
      })
    )
  )
  const make = attempt(path, () => {
    const next = `${path}.${randomBytes(6).toString("hex")}`
    mkdirSync(data, { recursive: true, mode: 0o700 })
    writeSynced(next, `${mintToken()}\n`)
    if (statSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path)
    return next
  }).pipe(
    // A link, not a rename: of two servers starting at once the second keeps the first one's token.
    Effect.flatMap((next) =>
      Effect.ensuring(
        Effect.ignore(attempt(path, () => linkSync(next, path))),
        Effect.sync(() => rmSync(next, { force: true }))
      )
    )
  )
  return read.pipe(
    Effect.flatMap((token) => (token === "" ? Effect.zipRight(make, read) : Effect.succeed(token))),
    Effect.filterOrFail(
      (token) => token !== "",
      () => new TokensError({ path, reason: "is empty" })
    )
  )
}
