import { createHash } from "node:crypto"
import type { CallResult, HookPoint } from "@harness/protocol"
import { Duration, Effect, Either } from "effect"
import { matches } from "../permissions/glob.ts"
import { Home } from "../storage/Home.ts"
import { errorResult } from "../tools/results.ts"
import { type HookAnswer, readAnswer, rewrittenArguments, rewrittenPrompt, rewrittenResult } from "./answer.ts"
import { type AskedHook, HookFailure, type HookRequest } from "./HookRequest.ts"
import type { GenerationVerdict, HookCall, HookPlace, HookSubject, Hooks, ToolVerdict, TurnVerdict } from "./Hooks.ts"
import { HooksRepo } from "./HooksRepo.ts"
import { HostHooks } from "./HostHooks.ts"
import { httpHook } from "./httpHook.ts"
import { LocalHooks } from "./LocalHooks.ts"
import { makePost } from "./post.ts"

/** What is asked for, whoever is asked. */
type Question = Pick<HookRequest, "call" | "result" | "systemPrompt" | "messages">

/** What one hook's answer leads to: the next one is asked, or nobody is. */
type Step<S, V> = Either.Either<S, V>

/** A round of one point's hooks. */
interface Round<S, V> {
  readonly point: HookPoint
  readonly subject: HookSubject
  readonly call?: HookCall
  readonly after?: HookPlace | undefined
  readonly question: (state: S) => Question
  /** Left of the outer: the answer cannot be used. */
  readonly take: (hook: AskedHook, answer: HookAnswer, state: S) => Either.Either<Step<S, V>, string>
  /** A hook that must agree did not. */
  readonly closed: (hook: AskedHook, reason: string, state: S) => Step<S, V>
  /** A hook that need not agree failed. */
  readonly open?: (hook: AskedHook, reason: string, state: S) => S
}

const behind = (place: HookPlace, hook: HookPlace): boolean =>
  hook.priority > place.priority || (hook.priority === place.priority && hook.hookId > place.hookId)

const inOrder = (a: HookPlace, b: HookPlace): number => (behind(b, a) ? 1 : -1)

const concerns = ({ functions }: AskedHook, call: HookCall | undefined): boolean =>
  call === undefined || functions === undefined || functions.some((glob) => matches(glob, call.name))

const keyOf = ({ draft, sessionId, step, turnId }: HookSubject, point: HookPoint): string =>
  createHash("sha256")
    .update([sessionId, turnId, step, point, ...(draft === undefined ? [] : [draft])].join("\n"))
    .digest("base64url")

const denialOf = (answer: HookAnswer): string => answer.reason ?? "A hook denied this."
const failureOf = (hook: AskedHook, reason: string): string =>
  `The hook ${hook.hookId} gave no answer that can be used: ${reason}`

/** Adds to a result's details what a person should see beside it. */
const noting = (result: CallResult, key: string, note: (before: unknown) => unknown): CallResult => ({
  ...result,
  details: { ...result.details, [key]: note(result.details?.[key]) }
})

/** The hooks of a server, at each of their points. */
export const makeHooks = Effect.gen(function* () {
  const repo = yield* HooksRepo
  const local = yield* LocalHooks
  const post = yield* makePost
  const { server } = yield* Home

  const host = yield* HostHooks
  // A name is one hook's: everyone's goes before a server's own.
  const known = Effect.map(Effect.all([repo.all, host, local.all]), ([own, everyones, here]) => {
    const taken = new Set(everyones.map(({ hookId }) => hookId))
    const rows = [...everyones, ...own.filter(({ hookId }) => !taken.has(hookId))]
    return [...rows.map((row) => httpHook(post, row)), ...here].toSorted(inOrder)
  })

  const askOne = (hook: AskedHook, request: HookRequest) =>
    hook.ask(request).pipe(
      Effect.timeoutFail({
        duration: Duration.millis(hook.timeoutMillis),
        onTimeout: () => new HookFailure({ reason: `It did not answer within ${hook.timeoutMillis} ms.` })
      }),
      Effect.catchAllDefect(() => Effect.fail(new HookFailure({ reason: "It broke." }))),
      Effect.mapError(({ reason }) => reason),
      Effect.flatMap((json) => readAnswer(hook.point, json)),
      Effect.withSpan("hooks.ask", { attributes: { hookId: hook.hookId, point: hook.point } })
    )

  const round = <S, V>(initial: S, asked: Round<S, V>): Effect.Effect<Step<S, V>> =>
    Effect.gen(function* () {
      const { after, call, point } = asked
      const { draft, ...subject } = asked.subject
      const idempotencyKey = call?.idempotencyKey ?? keyOf(asked.subject, point)
      const hooks = (yield* known).filter(
        (hook) => hook.point === point && concerns(hook, call) && (after === undefined || behind(after, hook))
      )
      let state = initial
      for (const hook of hooks) {
        const { hookId } = hook
        const request: HookRequest = {
          point,
          hookId,
          server,
          ...subject,
          idempotencyKey,
          ...(draft === undefined ? {} : { speculative: true }),
          ...asked.question(state)
        }
        const answer = yield* Effect.either(askOne(hook, request))
        const taken = Either.flatMap(answer, (answer) => asked.take(hook, answer, state))
        if (Either.isLeft(taken)) {
          yield* Effect.annotateLogs(Effect.logWarning("a hook failed"), { hookId, point, reason: taken.left })
          if (hook.onError === "fail_open") {
            state = asked.open?.(hook, taken.left, state) ?? state
            continue
          }
        }
        const step = Either.isRight(taken) ? taken.right : asked.closed(hook, taken.left, state)
        if (Either.isLeft(step)) return step
        state = step.right
      }
      return Either.right(state)
    })

  const preTurn = (subject: HookSubject) =>
    round<void, TurnVerdict>(undefined, {
      point: "pre-turn",
      subject,
      question: () => ({}),
      take: (_, answer) =>
        Either.right(
          answer.decision === "deny" ? Either.left({ _tag: "Vetoed", reason: denialOf(answer) }) : Either.void
        ),
      closed: (hook, reason) => Either.left({ _tag: "Vetoed", reason: failureOf(hook, reason) })
    }).pipe(Effect.map(Either.match({ onLeft: (verdict) => verdict, onRight: (): TurnVerdict => ({ _tag: "Go" }) })))

  const hooks: typeof Hooks.Service = {
    isThere: (hookId) => Effect.map(known, (hooks) => hooks.some((hook) => hook.hookId === hookId)),
    preTurn,
    preGenerate: (subject, generation) =>
      round<typeof generation, GenerationVerdict>(generation, {
        point: "pre-generate",
        subject,
        question: (state) => ({ ...state }),
        take: (_, answer, state) =>
          answer.decision === "deny"
            ? Either.right(Either.left({ _tag: "Vetoed", reason: denialOf(answer) }))
            : Either.map(rewrittenPrompt(answer, state), Either.right),
        closed: (hook, reason) => Either.left({ _tag: "Vetoed", reason: failureOf(hook, reason) })
      }).pipe(
        Effect.map(
          Either.match({
            onLeft: (verdict) => verdict,
            onRight: (generation): GenerationVerdict => ({ _tag: "Go", generation })
          })
        )
      ),
    postGenerate: (subject, text) =>
      round<void, never>(undefined, {
        point: "post-generate",
        subject,
        question: () => ({
          messages: [{ role: "assistant", content: text === "" ? [] : [{ type: "text", text }] }]
        }),
        take: () => Either.right(Either.void),
        // It observes: what it would close is over.
        closed: () => Either.void
      }).pipe(Effect.asVoid),
    preTool: (subject, call, after) =>
      round<typeof call.arguments, ToolVerdict>(call.arguments, {
        point: "pre-tool",
        subject,
        call,
        after,
        question: (state) => ({ call: { callId: call.callId, name: call.name, arguments: state } }),
        take: ({ hookId, priority }, answer, state) => {
          if (answer.decision === "deny") {
            return Either.right(Either.left({ _tag: "Denied", code: "hook.denied", reason: denialOf(answer) }))
          }
          const { pendingTimeoutMillis } = answer
          return Either.map(
            rewrittenArguments(answer, state),
            (next): Step<typeof state, ToolVerdict> =>
              answer.decision === "continue"
                ? Either.right(next)
                : Either.left({
                    _tag: "Held",
                    holder: { hookId, priority },
                    arguments: next,
                    ...(pendingTimeoutMillis === undefined ? {} : { pendingTimeoutMillis })
                  })
          )
        },
        closed: (hook, reason) => Either.left({ _tag: "Denied", code: "hook.failed", reason: failureOf(hook, reason) })
      }).pipe(
        Effect.map(
          Either.match({
            onLeft: (verdict) => verdict,
            onRight: (next): ToolVerdict => ({ _tag: "Go", arguments: next })
          })
        )
      ),
    postTool: (subject, call, result) =>
      round<CallResult, never>(result, {
        point: "post-tool",
        subject,
        call,
        question: (state) => ({
          call: { callId: call.callId, name: call.name, arguments: call.arguments },
          result: state
        }),
        take: ({ hookId }, answer, state) =>
          Either.map(rewrittenResult(answer, state), (next) =>
            Either.right(
              answer.annotations === undefined
                ? next
                : noting(next, "annotations", (before) => ({ ...asObject(before), [hookId]: answer.annotations }))
            )
          ),
        closed: (hook, reason) =>
          Either.right(
            errorResult("hook.failed", `The tool ran, but its result is withheld. ${failureOf(hook, reason)}`)
          ),
        open: (hook, reason, state) =>
          noting(state, "warnings", (before) => [...(Array.isArray(before) ? before : []), failureOf(hook, reason)])
      }).pipe(Effect.map(Either.merge))
  }
  return hooks
})

const asObject = (value: unknown): object => (typeof value === "object" && value !== null ? value : {})
