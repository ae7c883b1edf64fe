import type { JSONSchema7, LanguageModelV3, LanguageModelV3CallOptions } from "@ai-sdk/provider"
import { Clock, Effect, Predicate } from "effect"
import type { Answer } from "./answer.ts"
import type { Family, ModelFacts } from "./facts.ts"
import { failureOf, type Scrub, stalled } from "./failure.ts"
import { listenTo } from "./framing.ts"
import type { GenerateRequest, ModelFailure } from "./Model.ts"
import { providerOptions } from "./options.ts"
import { toPrompt } from "./prompt.ts"
import { makeReadAhead } from "./readAhead.ts"
import { watchFor } from "./watch.ts"

/** A provider package's model, and what we know of it. */
export interface Source {
  readonly family: Family
  readonly facts: ModelFacts
  /** The package's model, over `providerFetch`. */
  readonly connect: () => LanguageModelV3 | Promise<LanguageModelV3>
  readonly scrub: Scrub
  readonly stallMillis: number
}

/** Schemas come checked (tools and contracts are compiled when they are accepted); packages pass them on as they are. */
const isJsonSchema = (schema: unknown): schema is JSONSchema7 => Predicate.isRecord(schema)

const responseFormat = (request: GenerateRequest): Pick<LanguageModelV3CallOptions, "responseFormat"> => {
  if (request.output === undefined) return {}
  const { schema } = request.output
  return { responseFormat: { type: "json", ...(isJsonSchema(schema) ? { schema } : {}) } }
}

const callOptions = (
  request: GenerateRequest,
  source: Source,
  abortSignal: AbortSignal
): LanguageModelV3CallOptions => ({
  prompt: toPrompt(request, source),
  abortSignal,
  providerOptions: providerOptions(request, source.family, source.facts),
  // Only Chat Completions and Responses hide refusals in plain text; the rest needs no raw chunks.
  includeRawChunks: source.family === "chat" || source.family === "responses",
  ...responseFormat(request),
  ...(request.tools.length === 0
    ? {}
    : {
        tools: request.tools.map((tool) => ({
          type: "function" as const,
          name: tool.name,
          description: tool.description,
          inputSchema: isJsonSchema(tool.inputSchema) ? tool.inputSchema : {}
        })),
        toolChoice: { type: "auto" as const }
      }),
  ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
  ...(request.idempotencyKey === undefined || source.family === "google"
    ? {}
    : { headers: { "idempotency-key": request.idempotencyKey } })
})

/**
 * One generation as our events, ending in one `Finish`. The end of its scope closes the connection at
 * once; a provider that sends no byte for `stallMillis` while we wait has failed.
 */
export const generateWith =
  (source: Source) =>
  (request: GenerateRequest): Answer =>
    Effect.gen(function* () {
      const controller = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (owned) => Effect.sync(() => owned.abort())
      )
      const watch = yield* watchFor(source.stallMillis, () => controller.abort())
      const failed = (error: unknown): Effect.Effect<ModelFailure> =>
        watch.stalled()
          ? Effect.succeed(stalled(source.stallMillis))
          : Effect.map(Clock.currentTimeMillis, (now) => failureOf(error, { scrub: source.scrub, now }))
      const wait = <A>(promise: () => PromiseLike<A>): Effect.Effect<A, ModelFailure> =>
        Effect.tryPromise({
          try: () => {
            watch.waits(true)
            return promise()
          },
          catch: (error) => error
        }).pipe(
          Effect.ensuring(Effect.sync(() => watch.waits(false))),
          Effect.catchAll((error) => Effect.flatMap(failed(error), Effect.fail))
        )
      let ended = false
      const ahead = makeReadAhead({
        failed,
        ended: () => ended,
        waits: watch.waits,
        hasLane: source.family === "chat"
      })
      listenTo(controller.signal, {
        onBytes: watch.onBytes,
        onDone: () => {
          ended = true
        },
        take: ahead.take,
        room: ahead.room
      })
      const answer = yield* wait(async () => {
        const model = await source.connect()
        return model.doStream(callOptions(request, source, controller.signal))
      })
      ahead.from(answer.stream.getReader())
      return ahead.pull
    })
