import { ConflictError, ValidationError } from "@harness/protocol"
import { Context, Effect, Layer, Option } from "effect"
import { over } from "../providers/describe.ts"
import type { ResolvedModel } from "../providers/Model.ts"
import { ProviderSettings } from "../providers/ProviderSettings.ts"
import { type Provider, Providers } from "../providers/Providers.ts"
import { RETRY_BASE_MILLIS } from "../providers/retry.ts"
import { listed } from "./catalogue.ts"

/** A provider as a person is shown it: never its key. */
export type ProviderSummary = Pick<Provider, "providerId" | "name" | "connected" | "source">

const unknown = () =>
  new ValidationError({ code: "model.unknown", message: "No provider here has a model of this name." })

/** The models this process can ask, by `provider/model`. */
export class Models extends Context.Tag("@harness/server/Models")<
  Models,
  {
    /** Unknown provider or model: `model.unknown`; a known provider without a key: `model.not_connected`. */
    readonly resolve: (name: string) => Effect.Effect<ResolvedModel, ValidationError | ConflictError>
    /** As `resolve`, for its errors alone. */
    readonly check: (name: string) => Effect.Effect<void, ValidationError | ConflictError>
    /** What a session without a model uses: `HARNESS_MODEL`, else the first connected provider's default, else demo/demo. */
    readonly defaultModel: Effect.Effect<string>
    readonly providers: Effect.Effect<ReadonlyArray<ProviderSummary>>
    /** First delay of `withRetries`. */
    readonly retryBaseMillis: number
  }
>() {
  static readonly layerNoDeps = Layer.effect(
    Models,
    Effect.gen(function* () {
      const { all } = yield* Providers
      const settings = yield* ProviderSettings

      const resolve = Effect.fn("Models.resolve")(function* (name: string) {
        const slash = name.indexOf("/")
        const provider = all.find(({ providerId }) => slash > 0 && providerId === name.slice(0, slash))
        const model = name.slice(slash + 1)
        if (provider === undefined || model === "") return yield* unknown()
        if (!provider.connected) {
          return yield* new ConflictError({
            code: "model.not_connected",
            message: `The provider ${provider.name} is not connected: it has no key.`
          })
        }
        const known = over(listed(provider.providerId, model), settings.models?.[name] ?? {})
        return yield* Option.match(provider.model(model, known), { onNone: unknown, onSome: Effect.succeed })
      })

      const first = all.find(
        ({ connected, defaultModel, source }) => source !== "builtin" && connected && defaultModel !== undefined
      )
      const fallback = first === undefined ? "demo/demo" : `${first.providerId}/${first.defaultModel}`
      return {
        resolve,
        check: (name) => Effect.asVoid(resolve(name)),
        defaultModel: Effect.succeed(settings.model ?? fallback),
        providers: Effect.succeed(
          all.map(({ connected, name, providerId, source }) => ({ providerId, name, connected, source }))
        ),
        retryBaseMillis: settings.retryBaseMillis ?? RETRY_BASE_MILLIS
      }
    })
  )

  static readonly layer = this.layerNoDeps.pipe(Layer.provide(Providers.layer))
}
