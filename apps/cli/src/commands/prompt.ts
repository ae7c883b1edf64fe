import { mint } from "@harness/client"
import type { ServerName, SessionId, SubmitPromptReceipt, TurnSnapshot } from "@harness/protocol"
import { Effect, Option, Ref, Schedule } from "effect"
import { attendance, type Rejected } from "../asking/attendance.ts"
import type { Running } from "../command.ts"
import { type Connected, connect, type Where } from "../connect.ts"
import { CliFailure, cancelledBy, failed, misused, stoppedBy, turnFailed } from "../failures.ts"
import { lossNotice } from "../lossNotice.ts"
import { withoutUndefined } from "../present.ts"
import { oneLine } from "../render/text.ts"
import { type StopSignal, Surroundings } from "../Surroundings.ts"
import { screenFor } from "../screen.ts"
import { type TurnFlags, turnOptions } from "../turnOptions.ts"

interface PromptOptions extends Where, TurnFlags {
  readonly server: ServerName
  readonly session: SessionId | undefined
  readonly model: string | undefined
  readonly agent: string | undefined
  readonly title: string | undefined
  readonly workdir: string | undefined
  readonly unattended: boolean
  readonly quiet: boolean
  readonly json: boolean
}

/** A server that restarts is back by then; one that is gone should not keep anybody waiting. */
const MAX_DOWNTIME = "15 seconds"

/** Whether the prompt itself comes from standard input. */
const isPiped = (words: ReadonlyArray<string>, stdinIsTerminal: boolean): boolean =>
  words.length === 0 ? !stdinIsTerminal : words.length === 1 && words[0] === "-"

const contentOf = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { stdin } = yield* Surroundings
    const piped = isPiped(words, stdin.isTerminal)
    const content = piped ? yield* stdin.text : words.join(" ")
    if (content.trim() !== "") return content
    return yield* misused(
      piped ? "the prompt is empty: nothing came on standard input" : "the prompt is missing",
      '`harness prompt "hello"`, or text on standard input'
    )
  })

/** Asks the server to stop the turn, also when the prompt is only just on its way there. */
const stop = (client: Connected["client"], at: { server: string; sessionId: string; turnId: string }) =>
  client.turns
    .cancel({ ...at, reason: "stopped at the terminal" })
    .pipe(
      Effect.retry({ while: ({ _tag }) => _tag === "NotFoundError", schedule: Schedule.spaced("100 millis") }),
      Effect.timeout("3 seconds"),
      Effect.ignore
    )

/** Says which options could not apply. */
const ignoredOf = ({ ignored = [] }: SubmitPromptReceipt) =>
  Effect.flatMap(Surroundings, ({ err }) =>
    ignored.length === 0 ? Effect.void : err.write(`${err.style.dim(`! without effect: ${ignored.join(", ")}`)}\n`)
  )

/** Submits a prompt, shows the answer as it comes, and ends as the turn ends. */
export const prompt = (options: PromptOptions, words: ReadonlyArray<string>): Running =>
  Effect.gen(function* () {
    const { stdin, stopped, terminal } = yield* Surroundings
    const runOptions = yield* turnOptions(options)
    const content = yield* Effect.raceFirst(contentOf(words), Effect.flatMap(stopped, stoppedBy))
    const { ask, client } = yield* connect(options)
    const { agent, json, model, quiet, server, session, title, unattended, workdir } = options
    const at = { server, sessionId: session ?? (yield* mint("ses")), turnId: yield* mint("turn") }
    const named = { sessionId: at.sessionId, turnId: at.turnId }
    const choice = withoutUndefined({ model, agent })
    const loss = yield* lossNotice
    const screen = yield* screenFor({ json, quiet, resultOnly: options.outputSchema !== undefined })
    const alone = json || unattended || isPiped(words, stdin.isTerminal)
    const attending = yield* attendance({
      terminal: alone ? Option.none() : terminal,
      sessionId: at.sessionId,
      aside: screen.aside
    })

    const submitted = client.turns.submit({
      ...at,
      ...choice,
      ...withoutUndefined({ options: runOptions }),
      content,
      session: { ...choice, ...withoutUndefined({ title, workdir }) }
    })
    const ended = client.waitTurn({
      ...at,
      // A program gets every row from the first; a person the turn as it is, and what comes.
      after: json ? 0 : undefined,
      maxDowntime: MAX_DOWNTIME,
      onLost: loss.lost,
      onEvent: (event) => Effect.zipRight(loss.found, Effect.zipRight(attending.hear(event), screen.show(event))),
      onAsk: attending.onAsk,
      onQuestion: attending.onQuestion
    })
    const following = Effect.flatMap(ask(submitted), ignoredOf).pipe(
      Effect.zipRight(
        Effect.catchAll(ask(ended), (failure) =>
          Effect.flatMap(attending.rejected, (rejected) =>
            failure.error.code === "auth.scope" && rejected.length > 0
              ? Effect.zipRight(stop(client, at), unable(named, rejected))
              : leftBehind(failure, named)
          )
        )
      ),
      Effect.ensuring(screen.end)
    )

    const signal = yield* Ref.make<StopSignal | undefined>(undefined)
    const leaving = Effect.gen(function* () {
      const asked = yield* stopped
      yield* Ref.set(signal, asked)
      yield* stop(client, at)
      yield* Effect.sleep("2 seconds") // The turn's last event, if it comes, is shown.
      return yield* cancelledBy(asked, named)
    })
    const outcome = yield* Effect.either(Effect.raceFirst(following, leaving))
    const asked = yield* Ref.get(signal)
    if (asked !== undefined) return yield* cancelledBy(asked, named)
    const turn = yield* outcome
    if (turn.state !== "completed") return yield* turnFailed(turn)
    yield* screen.result(turn)
    yield* screen.summary(turn)
    if (options.outputSchema !== undefined && turn.result === undefined) return yield* withoutResult(turn)
    const rejected = yield* attending.rejected
    if (rejected.length > 0) return yield* unanswered(turn, rejected)
  })

/** The turn was to deliver JSON, and did not. */
const withoutResult = ({ rejected, resultError, sessionId, state, stopReason, turnId }: TurnSnapshot): CliFailure =>
  failed({
    code: `turn.${stopReason ?? "output_invalid"}`,
    message: `there is no result: ${resultError ?? `the turn ended early (${stopReason ?? state})`}`,
    details: { sessionId, turnId, state, ...withoutUndefined({ stopReason, resultError, rejected }) }
  })

/** The turn ended well, but not with all it wanted: each was said when it was rejected. */
const unanswered = ({ sessionId, state, turnId }: TurnSnapshot, rejected: ReadonlyArray<Rejected>): CliFailure =>
  failed({
    code: "ask.unattended",
    message: "nobody was there to answer what the turn asked",
    details: { sessionId, turnId, state, rejected },
    obvious: true
  })

/** Nobody was there, and what was asked could not even be rejected: it would have waited for ever. */
const unable = (at: { readonly sessionId: string; readonly turnId: string }, rejected: ReadonlyArray<Rejected>) => {
  const tools = [...new Set(rejected.map(({ tool }) => `"${oneLine(tool, 64)}"`))].join(", ")
  return failed({
    code: "ask.unattended",
    message: `the turn was cancelled: nobody was there to allow ${tools}, and this token may not reject it`,
    hint: "a token with the scope approve may",
    details: { ...at, state: "cancelled", rejected }
  })
}

/** We lost sight of a turn that was accepted: it goes on without us. */
const leftBehind = (failure: CliFailure, at: { readonly sessionId: string; readonly turnId: string }): CliFailure =>
  new CliFailure({
    ...failure,
    message: failure.message, // An error's own message is none of its enumerable properties.
    hint: failure.hint ?? `\`harness turns get ${at.sessionId} ${at.turnId}\` shows what became of the turn`,
    error: { ...failure.error, ...at }
  })
