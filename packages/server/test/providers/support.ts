import { Chunk, Effect, Layer, type Scope, Stream } from "effect"
import { Models } from "../../src/models/Models.ts"
import { streamOf } from "../../src/providers/answer.ts"
import type {
  GenerateRequest,
  ModelEvent,
  ModelFailure,
  ModelMessage,
  ResolvedModel
} from "../../src/providers/Model.ts"
import { ProviderSettings } from "../../src/providers/ProviderSettings.ts"
import { type Script, type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

/** A scripted model that lives as long as the test. */
export const scripted = (script?: Script): Effect.Effect<ScriptedModel, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => startScriptedModel(script)),
    (model) => Effect.promise(() => model.close())
  )

type Settings = typeof ProviderSettings.Service

/** A model as the server resolves it under these settings. */
export const resolved = (name: string, settings: Settings): Effect.Effect<ResolvedModel> =>
  Effect.flatMap(Models, (models) => models.resolve(name)).pipe(
    Effect.provide(Models.layer.pipe(Layer.provide(Layer.succeed(ProviderSettings, settings)))),
    Effect.orDie
  )

/** `openai/<name>` over this scripted model. */
export const openaiOver = (stub: ScriptedModel, settings: Settings = {}, name = "openai/any-name") =>
  resolved(name, { openaiBaseUrl: stub.url, ...settings })

export const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] })

export const ask = (...messages: ReadonlyArray<ModelMessage>): GenerateRequest => ({
  system: "be brief",
  messages: messages.length === 0 ? [user("hello")] : messages,
  tools: []
})

export const collect = (
  model: ResolvedModel,
  request: GenerateRequest = ask()
): Effect.Effect<ReadonlyArray<ModelEvent>, ModelFailure> =>
  Effect.map(Stream.runCollect(streamOf(model.generate(request))), Chunk.toReadonlyArray)

/** Everything a stub with this script makes the model say. */
export const said = (script: Script, request: GenerateRequest = ask()) =>
  Effect.gen(function* () {
    const stub = yield* scripted(script)
    return yield* collect(yield* openaiOver(stub), request)
  })

/** The whole text of one kind of event. */
export const textOf = (events: ReadonlyArray<ModelEvent>, tag: "Text" | "Reasoning" | "Refusal" = "Text"): string =>
  events.flatMap((event) => (event._tag === tag && "delta" in event ? [event.delta] : [])).join("")

export const finishOf = (events: ReadonlyArray<ModelEvent>) => {
  const last = events.at(-1)
  if (last?._tag !== "Finish") throw new Error(`the last event is ${last?._tag}`)
  return last
}

export const callsOf = (events: ReadonlyArray<ModelEvent>) => events.filter((event) => event._tag === "Call")

/** One turn of the real event loop: I/O goes on while the test's clock stands. */
export const breathe: Effect.Effect<void> = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
