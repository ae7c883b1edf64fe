import { type CallResult, Content, type HookPoint, JsonObject, PromptPart } from "@harness/protocol"
import { Either, Schema } from "effect"
import type { ModelMessage } from "../providers/Model.ts"
import { wellFormedJson } from "../tools/text.ts"

const Pieces = Schema.Union(Schema.String, Schema.Array(PromptPart))

/** What a hook answers, as it comes: its mutations are read once its point is known. */
const Answer = Schema.Struct({
  decision: Schema.optional(Schema.String),
  reason: Schema.optional(Schema.String),
  pendingTimeoutMillis: Schema.optional(Schema.Int.pipe(Schema.positive())),
  mutations: Schema.optional(JsonObject),
  annotations: Schema.optional(JsonObject)
})

const Arguments = Schema.Struct({ arguments: Schema.optional(JsonObject) })

const ResultChange = Schema.Struct({
  content: Schema.optional(Pieces),
  details: Schema.optional(JsonObject),
  isError: Schema.optional(Schema.Boolean)
})

// Others' roles could leave a call without its result, or a result without its call.
const Message = Schema.Struct({ role: Schema.Literal("user"), content: Content })
const Prompting = Schema.Struct({
  systemPrompt: Schema.optional(
    Schema.Union(Schema.Struct({ append: Schema.String }), Schema.Struct({ replace: Schema.String }))
  ),
  messages: Schema.optional(Schema.Array(Message))
})

/** What a hook decided, of what its point knows. */
export type Decision = "continue" | "deny" | "hold"

/** A hook's answer, understood. */
export interface HookAnswer {
  readonly decision: Decision
  readonly reason: string | undefined
  readonly pendingTimeoutMillis: number | undefined
  readonly mutations: JsonObject
  readonly annotations: JsonObject | undefined
}

/** Says nothing against it and changes nothing. */
export const CONTINUE: HookAnswer = {
  decision: "continue",
  reason: undefined,
  pendingTimeoutMillis: undefined,
  mutations: {},
  annotations: undefined
}

const decisions: Record<HookPoint, ReadonlyArray<Decision>> = {
  "pre-turn": ["continue", "deny"],
  "pre-generate": ["continue", "deny"],
  "post-generate": ["continue"],
  "pre-tool": ["continue", "deny", "hold"],
  "post-tool": ["continue"]
}

const decodeAnswer = Schema.decodeUnknownEither(Answer)

const unreadable = <A, E>(what: string, decoded: Either.Either<A, E>): Either.Either<A, string> =>
  Either.mapLeft(decoded, () => `${what} cannot be understood.`)

/** An answer of this point, or why it is none. A decision the point does not know is none. */
export const readAnswer = (point: HookPoint, json: unknown): Either.Either<HookAnswer, string> =>
  Either.gen(function* () {
    const answer = yield* unreadable("Its answer", decodeAnswer(wellFormedJson(json)))
    const decision = decisions[point].find((known) => known === (answer.decision ?? "continue"))
    if (decision === undefined) return yield* Either.left("Its decision is none that this point knows.")
    const { annotations, mutations = {}, pendingTimeoutMillis, reason } = answer
    return { decision, reason, pendingTimeoutMillis, mutations, annotations }
  })

/** The arguments as a hook before a tool leaves them. */
export const rewrittenArguments = (answer: HookAnswer, before: JsonObject): Either.Either<JsonObject, string> =>
  Either.map(
    unreadable("Its new arguments", Schema.decodeUnknownEither(Arguments)(answer.mutations)),
    (mutations) => mutations.arguments ?? before
  )

const toParts = (content: string | ReadonlyArray<PromptPart>): ReadonlyArray<PromptPart> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** The result as a hook after a tool leaves it; an error always has a code. */
export const rewrittenResult = (answer: HookAnswer, before: CallResult): Either.Either<CallResult, string> =>
  Either.map(
    unreadable("Its new result", Schema.decodeUnknownEither(ResultChange)(answer.mutations)),
    (change): CallResult => {
      const isError = change.isError ?? before.isError
      const given = change.details ?? before.details
      const details = isError && given?.["code"] === undefined ? { ...given, code: "tool.failed" } : given
      return {
        content: change.content === undefined ? before.content : toParts(change.content),
        isError,
        ...(details === undefined ? {} : { details })
      }
    }
  )

/** A request to a model as a hook before it leaves it. */
export interface Prompted {
  readonly systemPrompt: string
  readonly messages: ReadonlyArray<ModelMessage>
}

export const rewrittenPrompt = (answer: HookAnswer, before: Prompted): Either.Either<Prompted, string> =>
  Either.map(
    unreadable("Its changes to the prompt", Schema.decodeUnknownEither(Prompting)(answer.mutations)),
    ({ messages = [], systemPrompt }) => {
      const added = messages.map(({ content }): ModelMessage => ({ role: "user", content: toParts(content) }))
      return { systemPrompt: nextPrompt(before.systemPrompt, systemPrompt), messages: [...before.messages, ...added] }
    }
  )

const nextPrompt = (
  before: string,
  change: { readonly append: string } | { readonly replace: string } | undefined
): string => {
  if (change === undefined) return before
  if ("replace" in change) return change.replace
  return before === "" ? change.append : `${before}\n\n${change.append}`
}
