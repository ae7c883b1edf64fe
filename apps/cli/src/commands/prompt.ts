import { mint } from "@harness/client"
import type { ServerName, SessionId, TurnSnapshot, TurnStreamEventValue } from "@harness/protocol"
import { Effect, Ref, Schedule } from "effect"
import type { Running } from "../command.ts"
import { type Connected, connect, type Where } from "../connect.ts"
import { CliFailure, cancelledBy, misused, stoppedBy, turnFailed } from "../failures.ts"
import { lossNotice } from "../lossNotice.ts"
import { withoutUndefined } from "../present.ts"
import { type Piece, Transcript } from "../render/Transcript.ts"
import { turnSummary } from "../render/turns.ts"
import { type StopSignal, Surroundings } from "../Surroundings.ts"

interface PromptOptions extends Where {
  readonly server: ServerName
  readonly session: SessionId | undefined
  readonly model: string | undefined
  readonly agent: string | undefined
  readonly title: string | undefined
  readonly workdir: string | undefined
  readonly quiet: boolean
  readonly json: boolean
}

/** A server that restarts is back by then; one that is gone should not keep anybody waiting. */
const MAX_DOWNTIME = "15 seconds"

const contentOf = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { stdin } = yield* Surroundings
    const piped = words.length === 0 ? !stdin.isTerminal : words.length === 1 && words[0] === "-"
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

/** Where the answer and what is around it go. */
const screen = ({ json, quiet }: PromptOptions) =>
  Effect.gen(function* () {
    const { err, out } = yield* Surroundings
    const transcript = new Transcript(out, err)
    const show = (pieces: ReadonlyArray<Piece>) =>
      Effect.forEach(
        pieces,
        ({ text, to }) => (to === "out" ? out.write(text) : quiet ? Effect.void : err.write(text)),
        { discard: true }
      )
    return {
      show: (event: TurnStreamEventValue) =>
        json ? out.write(`${JSON.stringify(event)}\n`) : Effect.suspend(() => show(transcript.take(event))),
      end: Effect.suspend(() => show(transcript.end())),
      summary: (turn: TurnSnapshot) =>
        json || quiet || !err.isTerminal ? Effect.void : err.write(turnSummary(turn, err.style))
    }
  })

/** Submits a prompt, shows the answer as it comes, and ends as the turn ends. */
export const prompt = (options: PromptOptions, words: ReadonlyArray<string>): Running =>
  Effect.gen(function* () {
    const { stopped } = yield* Surroundings
    const content = yield* Effect.raceFirst(contentOf(words), Effect.flatMap(stopped, stoppedBy))
    const { ask, client } = yield* connect(options)
    const { agent, json, model, server, session, title, workdir } = options
    const at = { server, sessionId: session ?? (yield* mint("ses")), turnId: yield* mint("turn") }
    const named = { sessionId: at.sessionId, turnId: at.turnId }
    const choice = withoutUndefined({ model, agent })
    const loss = yield* lossNotice
    const { end, show, summary } = yield* screen(options)

    const submitted = client.turns.submit({
      ...at,
      ...choice,
      content,
      session: { ...choice, ...withoutUndefined({ title, workdir }) }
    })
    const ended = client.waitTurn({
      ...at,
      // A program gets every row from the first; a person the turn as it is, and what comes.
      after: json ? 0 : undefined,
      maxDowntime: MAX_DOWNTIME,
      onLost: loss.lost,
      onEvent: (event) => Effect.zipRight(loss.found, show(event))
    })
    const following = ask(submitted).pipe(
      Effect.zipRight(Effect.mapError(ask(ended), (failure) => leftBehind(failure, named))),
      Effect.ensuring(end)
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
    yield* summary(turn)
  })

/** We lost sight of a turn that was accepted: it goes on without us. */
const leftBehind = (failure: CliFailure, at: { readonly sessionId: string; readonly turnId: string }): CliFailure =>
  new CliFailure({
    ...failure,
    message: failure.message, // An error's own message is none of its enumerable properties.
    hint: failure.hint ?? `\`harness turns get ${at.sessionId} ${at.turnId}\` shows what became of the turn`,
    error: { ...failure.error, ...at }
  })
