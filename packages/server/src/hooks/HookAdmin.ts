import {
  type HookDeletedResponseValue,
  type HookId,
  type HookResponseValue,
  type HooksResponseValue,
  type PutHookRequestValue,
  ValidationError
} from "@harness/protocol"
import { Context, Effect, Either, Layer } from "effect"
import { calledUrl, signingSecret } from "../config/values.ts"
import { CommitRoom } from "../log/Commit.ts"
import { validateGlobs } from "../permissions/policy.ts"
import { withDefaults } from "./defaults.ts"
import { type HookRow, HooksRepo } from "./HooksRepo.ts"
import { mintSecret } from "./signing.ts"

const problems = (path: string, read: Either.Either<unknown, string>) =>
  Either.isLeft(read) ? [{ path, reason: read.left }] : []

/** A URL or a secret that cannot be used, where it stands and why. */
export const refuseAddress = (request: {
  readonly url: string
  readonly secret?: string | undefined
}): Effect.Effect<void, ValidationError> => {
  const given = request.secret === undefined ? Either.void : signingSecret(request.secret)
  const issues = [...problems("url", calledUrl(request.url)), ...problems("secret", given)]
  if (issues.length === 0) return Effect.void
  const message = issues.map(({ path, reason }) => `${path} ${reason}`).join("; ")
  return Effect.fail(new ValidationError({ code: "request.invalid", message, details: { issues } }))
}

/** Refuses globs that cannot be meant. */
const refuseGlobs = (functions: ReadonlyArray<string> | undefined): Effect.Effect<void, ValidationError> => {
  const issues = validateGlobs(functions ?? [], "functions")
  return issues.length === 0
    ? Effect.void
    : Effect.fail(
        new ValidationError({
          code: "policy.invalid_glob",
          message: "functions holds a glob that cannot be meant",
          details: { issues }
        })
      )
}

const shown = ({ secret: _, ...hook }: HookRow): HookResponseValue => hook

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const repo = yield* HooksRepo

  const list = Effect.fn("HookAdmin.list")(function* (after: string, limit: number) {
    const rows = yield* repo.page(after, limit + 1)
    const hooks = rows.slice(0, limit)
    const answer: HooksResponseValue = {
      hooks: hooks.map(shown),
      next: rows.length > limit ? (hooks.at(-1)?.hookId ?? null) : null
    }
    return answer
  })

  const put = Effect.fn("HookAdmin.put")(function* (hookId: HookId, request: PutHookRequestValue) {
    yield* refuseAddress(request)
    yield* refuseGlobs(request.functions)
    const minted = mintSecret()
    return yield* room.commit<HookResponseValue, never>((tx) =>
      Effect.gen(function* () {
        const before = yield* HooksRepo.find(tx, hookId)
        const hook = withDefaults({ ...request, hookId, secret: request.secret ?? before?.secret ?? minted })
        yield* HooksRepo.put(tx, hook)
        return hook.secret === minted ? hook : shown(hook)
      })
    )
  })

  const remove = Effect.fn("HookAdmin.remove")((hookId: HookId) =>
    room.commit<HookDeletedResponseValue, never>((tx) =>
      Effect.map(HooksRepo.remove(tx, hookId), (removed) => ({ hookId, removed: removed.length > 0 }))
    )
  )

  return { list, put, remove }
})

/** Sets a server's hooks. A secret that was minted is told once, by the PUT that minted it; a chosen one never. */
export class HookAdmin extends Context.Tag("@harness/server/HookAdmin")<
  HookAdmin,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(HookAdmin, make)
}
