import type { HookId, HookResponseValue } from "@harness/protocol"
import { Effect, Either, Redacted } from "effect"
import type { HarnessJsonValue } from "./HarnessJson.ts"
import { SettingsError } from "./SettingsError.ts"
import { calledUrl, signingSecret } from "./values.ts"

/** A hook of `harness.json`, its secret already looked up in the environment. What it leaves out has the hooks' defaults. */
export interface ConfiguredHook extends Pick<HookResponseValue, "point" | "url" | "functions"> {
  readonly hookId: HookId
  readonly secret: Redacted.Redacted
  readonly priority?: number | undefined
  readonly timeoutMillis?: number | undefined
  readonly onError?: HookResponseValue["onError"] | undefined
}

/** The hooks of a `harness.json`. The first bad value is refused: a gate that is left out stands open. */
export const readHooks = (
  file: { readonly path: string; readonly json: HarnessJsonValue } | undefined,
  env: Readonly<Record<string, string | undefined>>
) =>
  Effect.gen(function* () {
    const hooks: Array<ConfiguredHook> = []
    for (const [index, { id, secretEnv, ...hook }] of (file?.json.hooks ?? []).entries()) {
      const refused = (key: string) => (reason: string) =>
        new SettingsError({ key: `hooks.${index}.${key}`, source: file?.path ?? "", reason })
      if (hooks.some(({ hookId }) => hookId === id)) return yield* refused("id")("is already the name of a hook")
      const url = yield* Either.mapLeft(calledUrl(hook.url), refused("url"))
      const secret = env[secretEnv]
      if (secret === undefined || secret === "") {
        return yield* refused("secretEnv")("must name a variable of the environment that is set")
      }
      yield* Either.mapLeft(signingSecret(secret), (reason) => refused("secretEnv")(`names a secret that ${reason}`))
      hooks.push({ ...hook, hookId: id, url, secret: Redacted.make(secret) })
    }
    return hooks
  })
