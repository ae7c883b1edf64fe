import type { SafeFailure } from "@harness/protocol"
import { Cause, Effect, Either, Ref, Stream } from "effect"
import { Compactions } from "../compaction/Compactions.ts"
import type { CompactionRow } from "../compaction/CompactionsRepo.ts"
import { headOf, type Keep } from "../compaction/plan.ts"
import { roomOf, tokensOfText, totalTokens } from "../compaction/tokens.ts"
import { transcriptOf } from "../compaction/transcript.ts"
import { Limits } from "../config/Limits.ts"
import { HistoryRepo, type StoredEntry } from "../history/HistoryRepo.ts"
import { Models } from "../models/Models.ts"
import { streamOf } from "../providers/answer.ts"
import type { ModelFailure, ResolvedModel } from "../providers/Model.ts"
import { withRetries } from "../providers/retry.ts"
import type { Made } from "./Beside.ts"

/** A summary takes at most this long, whatever the model does, unless `harness.json` says otherwise. */
const MILLIS_MAX = 300_000

/** Whoever asks for a compaction between turns gets a summary of all there is. */
export const EVERYTHING = { tokens: 0, units: 0 }
/** Steps that no automatic compaction touches. */
export const WHOLE_STEPS = 2
/** A compaction must take off a quarter to be worth another. */
export const WORTH = 0.75

const SYSTEM =
  "You summarise a conversation between a user and an agent, so that the agent can go on from your summary alone. Keep what was asked for, what was found, decided and changed (with names, paths and numbers), what is still open, and what the user cares about. Write plain text, no preamble."

const failureOf = (code: string, message: string): SafeFailure => ({
  kind: "transient",
  code,
  message,
  retryable: true
})

const broken: SafeFailure = {
  kind: "permanent",
  code: "internal",
  message: "the server failed to summarise this history",
  retryable: false
}

/** Asks the model for a summary. */
const summaryOf = (model: ResolvedModel, head: ReadonlyArray<StoredEntry>, instructions: string) =>
  Effect.gen(function* () {
    const { retryBaseMillis } = yield* Models
    const text = yield* Ref.make("")
    const ask = instructions === "" ? "Summarise this conversation." : `Summarise this conversation. ${instructions}`
    const room = roomOf(model)
    const left = room === undefined ? undefined : Math.max(0, room - tokensOfText(SYSTEM) - tokensOfText(ask))
    const { compactionMillis = MILLIS_MAX } = yield* yield* Limits
    const answer = withRetries(
      () =>
        model.generate({
          system: SYSTEM,
          messages: [{ role: "user", content: [{ type: "text", text: `${ask}\n\n${transcriptOf(head, left)}` }] }],
          tools: []
        }),
      { onRetry: () => Effect.void, baseMillis: retryBaseMillis }
    )
    yield* streamOf(answer).pipe(
      Stream.runForEach((event) => (event._tag === "Text" ? Ref.update(text, (so) => so + event.delta) : Effect.void)),
      Effect.timeoutFail({
        duration: compactionMillis,
        onTimeout: () => ({ failure: failureOf("compaction.timeout", "the summary took too long") })
      })
    )
    return yield* Ref.get(text)
  }).pipe(Effect.mapError((error: ModelFailure | { readonly failure: SafeFailure }) => error.failure))

/** One compaction, from its head to its summary; nothing when it has failed. */
export const made = (row: CompactionRow, model: ResolvedModel, keep: Keep) =>
  Effect.gen(function* () {
    const compactions = yield* Compactions
    const history = yield* HistoryRepo
    const entries = yield* history.forModel(row.sessionId)
    const head = headOf(entries, keep)
    if (head.length === 0) {
      yield* compactions.fail(row, {
        kind: "permanent",
        code: "compaction.nothing_to_do",
        message: "there is nothing that a summary could stand for",
        retryable: false
      })
      return undefined
    }
    const summary = yield* Effect.either(summaryOf(model, head, row.instructions))
    if (Either.isLeft(summary) || summary.right.trim() === "") {
      const empty = failureOf("compaction.empty", "the model gave no summary")
      yield* compactions.fail(row, Either.isLeft(summary) ? summary.left : empty)
      return undefined
    }
    const tokensBefore = totalTokens(entries)
    const tokensAfter = tokensBefore - totalTokens(head) + tokensOfText(summary.right)
    const done: Made = { row, head, summary: summary.right, details: { tokensBefore, tokensAfter } }
    return done
  })

/** The summary takes its head's place. Answers whether the history is shorter now. */
export const place = ({ details, head, row, summary }: Made) =>
  Effect.flatMap(Compactions, (compactions) => compactions.complete(row, head, summary, details))

/** One compaction, from its head to its end. Answers whether the history is shorter now. */
export const run = (row: CompactionRow, model: ResolvedModel, keep: Keep) =>
  Effect.flatMap(made(row, model, keep), (done) => (done === undefined ? Effect.succeed(false) : place(done)))

/** A defect of ours must not keep anybody waiting. */
export const guarded = <A, R>(row: CompactionRow, otherwise: A, effect: Effect.Effect<A, never, R>) =>
  Effect.catchAllCause(effect, (cause) =>
    Cause.isInterruptedOnly(cause)
      ? Effect.failCause(cause)
      : Effect.gen(function* () {
          const compactions = yield* Compactions
          yield* Effect.logError("a compaction broke", cause)
          yield* compactions.fail(row, broken)
          return otherwise
        })
  )
