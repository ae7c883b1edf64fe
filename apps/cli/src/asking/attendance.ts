import type { Attending } from "@harness/client"
import type { PermissionRequest, Question, TurnStreamEventValue } from "@harness/protocol"
import { Effect, Option, Ref } from "effect"
import { questionTitle } from "../render/asks.ts"
import { oneLine, visible } from "../render/text.ts"
import { Surroundings, type Terminal } from "../Surroundings.ts"
import { askPermission, askQuestion, type Gone } from "./person.ts"

/** Something that was asked with nobody there, and so came to nothing. */
export interface Rejected {
  readonly kind: "permission" | "question"
  readonly id: string
  readonly sessionId: string
  readonly tool: string
  readonly wanted: string
}

/** Who answers while a turn is waited for. */
export interface Attendance {
  readonly onAsk: NonNullable<Attending["onAsk"]>
  readonly onQuestion: NonNullable<Attending["onQuestion"]>
  /** An event of the turn: it names the tools. */
  readonly hear: (event: TurnStreamEventValue) => Effect.Effect<void>
  /** What nobody was there to answer. */
  readonly rejected: Effect.Effect<ReadonlyArray<Rejected>>
}

/**
 * The person at the terminal, asked one thing after the other, for as long as there is one. With nobody there, everything is
 * rejected at once, and said so: no answer is invented, and nothing waits for ever.
 */
export const attendance = (options: {
  /** The person; none: nobody is there, or nobody wants to be asked. */
  readonly terminal: Option.Option<Terminal>
  /** The session somebody looks at. */
  readonly sessionId: string
  /** Has the screen for itself meanwhile. */
  readonly aside: <A, E>(asking: Effect.Effect<A, E>) => Effect.Effect<A, E>
}): Effect.Effect<Attendance, never, Surroundings> =>
  Effect.gen(function* () {
    const { err } = yield* Surroundings
    const { aside, sessionId } = options
    const person = yield* Ref.make(options.terminal)
    const rejected = yield* Ref.make<ReadonlyArray<Rejected>>([])
    const oneAtATime = yield* Effect.makeSemaphore(1)
    const tools = new Map<string, string>()

    const reject = (what: Rejected) =>
      Effect.gen(function* () {
        yield* Ref.update(rejected, (all) => [...all, what])
        const who = what.sessionId === sessionId ? "" : ` (sub-agent ${what.sessionId})`
        const why = `for nobody is there to ${what.kind === "permission" ? "allow" : "answer"} it`
        yield* err.write(
          `${err.style.red("harness:")} "${oneLine(what.tool, 64)}" was rejected, ${why}: ${what.wanted}${who}\n`
        )
      })

    /** Asks the person, or, with nobody there, does without. */
    const ask = <A>(
      asking: (terminal: Terminal) => Effect.Effect<A, Gone>,
      without: Effect.Effect<A>
    ): Effect.Effect<A> =>
      Effect.flatMap(
        Ref.get(person),
        Option.match({
          onNone: () => without,
          onSome: (terminal) =>
            aside(
              Effect.onInterrupt(asking(terminal), () => err.write(`${err.style.dim("  settled without you")}\n`))
            ).pipe(
              // Nobody will type again, to this or to anything else.
              Effect.catchAll(() => Effect.zipRight(Ref.set(person, Option.none()), without))
            )
        })
      )

    return {
      onAsk: (request: PermissionRequest) =>
        oneAtATime.withPermits(1)(
          ask(
            (terminal) => askPermission(terminal, err, request, sessionId),
            Effect.as(
              reject({
                kind: "permission",
                id: request.requestId,
                sessionId: request.sessionId,
                tool: tools.get(request.callId) ?? request.permission,
                wanted: oneLine(visible(request.title), 400)
              }),
              { reply: "reject", message: "Nobody is there to allow it." } as const
            )
          )
        ),
      onQuestion: (question: Question) =>
        oneAtATime.withPermits(1)(
          ask(
            (terminal) => askQuestion(terminal, err, question, sessionId),
            Effect.as(
              reject({
                kind: "question",
                id: question.questionId,
                sessionId: question.sessionId,
                tool: tools.get(question.callId) ?? "question",
                wanted: questionTitle(question)
              }),
              "reject" as const
            )
          )
        ),
      hear: (event) =>
        Effect.sync(() => {
          if (event.type === "turn.tool.requested") tools.set(event.call.callId, event.call.name)
          if (event.type !== "turn.snapshot") return
          for (const part of event.turn.parts) if (part.type === "tool") tools.set(part.callId, part.name)
        }),
      rejected: Ref.get(rejected)
    }
  })
