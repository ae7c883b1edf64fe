import type { Scope, ServerName } from "@harness/protocol"
import { type TokenInfo, Tokens, type TokensError } from "@harness/server/auth/Tokens"
import { Array as Arr, Effect, Redacted } from "effect"
import type { Running } from "../command.ts"
import { dataFolder } from "../dataFolder.ts"
import { type CliFailure, failed } from "../failures.ts"
import { newTokenLines, tokenTable } from "../render/tokens.ts"
import { Surroundings } from "../Surroundings.ts"

interface At {
  readonly data: string | undefined
  readonly json: boolean
}

const withTokens = <A>(
  { data }: At,
  use: (tokens: typeof Tokens.Service) => Effect.Effect<A, TokensError>
): Effect.Effect<A, CliFailure, Surroundings> =>
  Effect.flatMap(dataFolder(data), (folder) =>
    Effect.flatMap(Tokens, use).pipe(
      Effect.provide(Tokens.layerFile({ data: folder })),
      Effect.mapError((error) => failed({ code: "tokens.file", message: error.message }))
    )
  )

/** Makes a token and prints it, alone on its line when nobody is looking. */
export const add = (
  options: At & { readonly scopes: ReadonlyArray<Scope>; readonly servers: ReadonlyArray<ServerName> },
  actor: string
): Running =>
  Effect.gen(function* () {
    const { err, out } = yield* Surroundings
    const scopes = Arr.isNonEmptyReadonlyArray(options.scopes)
      ? options.scopes
      : (["read", "write", "approve"] as const)
    const servers = Arr.isNonEmptyReadonlyArray(options.servers) ? { servers: options.servers } : {}
    const made = yield* withTokens(options, (tokens) => tokens.add({ actor, scopes, ...servers }))
    const token = Redacted.value(made.token)
    if (options.json) {
      return yield* out.write(`${JSON.stringify({ tokenId: made.tokenId, actor, scopes, ...servers, token })}\n`)
    }
    yield* out.write(`${token}\n`)
    yield* err.write(newTokenLines({ actor, scopes, ...servers }, made.tokenId, err.style))
  })

/** Lists the tokens. */
export const list = (options: At): Running =>
  Effect.gen(function* () {
    const { out } = yield* Surroundings
    const tokens: ReadonlyArray<TokenInfo> = yield* withTokens(options, (all) => all.list)
    yield* out.write(options.json ? `${JSON.stringify({ tokens })}\n` : tokenTable(tokens, out.style))
  })

/** Revokes one. */
export const revoke = (options: At, tokenId: string): Running =>
  Effect.gen(function* () {
    const { out } = yield* Surroundings
    const revoked = yield* withTokens(options, (tokens) => tokens.revoke(tokenId))
    if (!revoked) {
      return yield* failed({
        code: "token.not_found",
        message: `there is no token ${tokenId}`,
        hint: "`harness token list` lists those there are"
      })
    }
    yield* out.write(options.json ? `${JSON.stringify({ tokenId, revoked })}\n` : `${tokenId} is revoked\n`)
  })
