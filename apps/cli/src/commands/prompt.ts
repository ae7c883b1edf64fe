import { mint } from "@harness/client"
import type { ServerName, SessionId } from "@harness/protocol"
import { Effect, Ref, Schedule } from "effect"
import type { Running } from "../command.ts"
import { type Connected, connect, type Where } from "../connect.ts"
import { cancelledBy, misused, turnFailed } from "../failures.ts"
import { lossNotice } from "../lossNotice.ts"
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
const stop = ({ client }: Connected, at: { server: string; sessionId: string; turnId: string }) =>
  client.turns
    .cancel({ ...at, reason: "stopped at the terminal" })
    .pipe(
      Effect.retry({ while: ({ _tag }) => _tag === "NotFoundError", schedule: Schedule.spaced("100 millis") }),
      Effect.timeout("3 seconds"),
      Effect.ignore
    )

/** Submits a prompt, shows the answer as it comes, and ends as the turn ends. */
export const prompt = (options: PromptOptions, words: ReadonlyArray<string>): Running =>
  Effect.gen(function* () {
    const { err, out, stopped } = yield* Surroundings
    const content = yield* contentOf(words)
    const server = yield* connect(options)
    const { agent, json, model, quiet, title, workdir } = options
    const choice = { ...(model === undefined ? {} : { model }), ...(agent === undefined ? {} : { agent }) }
    const session = {
      ...choice,
      ...(title === undefined ? {} : { title }),
      ...(workdir === undefined ? {} : { workdir })
    }
    const at = {
      server: options.server,
      sessionId: options.session ?? (yield* mint("ses")),
      turnId: yield* mint("turn")
    }
    const transcript = new Transcript(out, err)
    const show = (pieces: ReadonlyArray<Piece>) =>
      Effect.forEach(
        pieces,
        ({ text, to }) => (to === "out" ? out.write(text) : quiet ? Effect.void : err.write(text)),
        { discard: true }
      )
    const loss = yield* lossNotice

    const following = server
      .ask(
        server.client.runTurn({
          ...at,
          ...choice,
          content,
          session,
          maxDowntime: MAX_DOWNTIME,
          onLost: loss.lost,
          onEvent: (event) =>
            Effect.zipRight(loss.found, json ? out.write(`${JSON.stringify(event)}\n`) : show(transcript.take(event)))
        })
      )
      .pipe(Effect.ensuring(json ? Effect.void : show(transcript.end())))

    const signal = yield* Ref.make<StopSignal | undefined>(undefined)
    const leaving = Effect.gen(function* () {
      const asked = yield* stopped
      yield* Ref.set(signal, asked)
      yield* stop(server, at)
      yield* Effect.sleep("2 seconds") // The turn's last event, if it comes, is shown.
      return yield* cancelledBy(asked, { sessionId: at.sessionId, turnId: at.turnId })
    })
    const turn = yield* Effect.raceFirst(following, leaving)
    const asked = yield* Ref.get(signal)
    if (asked !== undefined) {
      return yield* cancelledBy(asked, { sessionId: turn.sessionId, turnId: turn.turnId, state: turn.state })
    }
    if (turn.state !== "completed") return yield* turnFailed(turn)
    if (!json && !quiet && err.isTerminal) yield* err.write(turnSummary(turn, err.style))
  })
