import { ConflictError, ValidationError } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { ResolvedModel } from "../providers/Model.ts"
import { ProviderSettings } from "../providers/ProviderSettings.ts"

/** A provider as a person is shown it: never its key. */
export interface ProviderSummary {
  readonly providerId: string
  readonly name: string
  readonly connected: boolean
  readonly source: "builtin" | "environment" | "file"
}

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
  }
>() {
  static readonly layer = Layer.effect(
    Models,
    Effect.gen(function* () {
      const settings = yield* ProviderSettings
      const resolve = Effect.fn("Models.resolve")(function* (name: string) {
        if (name === "") return yield* new ConflictError({ code: "model.not_connected", message: "" })
        return yield* new ValidationError({ code: "model.unknown", message: "no such model" })
      })
      return {
        resolve,
        check: (name) => Effect.asVoid(resolve(name)),
        defaultModel: Effect.succeed(settings.model ?? "demo/demo"),
        providers: Effect.succeed([])
      }
    })
  )
}
