import type { QuestionReply } from "@harness/client"
import type { PermissionReplyRequestValue, PermissionRequest, Question, QuestionItem } from "@harness/protocol"
import { Effect, Either, Option } from "effect"
import { askerText, askText, itemText } from "../render/asks.ts"
import type { Terminal, Writer } from "../Surroundings.ts"
import { REJECT, readAnswer, readReply, takesWords } from "./reading.ts"

/** Nobody types any more. */
export class Gone {
  readonly _tag = "Gone"
}

const line = (terminal: Terminal, query: string) =>
  Effect.flatMap(
    terminal.readLine(query),
    Option.match({ onNone: () => Effect.fail(new Gone()), onSome: Effect.succeed })
  )

/** Asks until the answer makes sense. */
const until = <A>(
  terminal: Terminal,
  err: Writer,
  query: string,
  read: (line: string) => Either.Either<A, string>
): Effect.Effect<A, Gone> =>
  Effect.flatMap(line(terminal, query), (typed) =>
    Either.match(read(typed), {
      onLeft: (wanted) =>
        Effect.zipRight(err.write(`${err.style.dim(`  ${wanted}`)}\n`), until(terminal, err, query, read)),
      onRight: Effect.succeed
    })
  )

const said = { once: "allowed once", always: "allowed always", reject: "rejected" } as const

/** Puts a permission request to the person at the terminal. */
export const askPermission = (
  terminal: Terminal,
  err: Writer,
  request: PermissionRequest,
  session: string
): Effect.Effect<PermissionReplyRequestValue, Gone> =>
  Effect.gen(function* () {
    const mayAlways = request.always.length > 0
    const choices = ["[o]nce", ...(mayAlways ? ["[a]lways"] : []), "[r]eject"]
    yield* err.write(askText(request, err, session))
    const reply = yield* until(terminal, err, `  ${choices.join(", ")}: `, (typed) => readReply(typed, mayAlways))
    const { message } = reply
    const why = reply.reply === "reject" && message === undefined ? yield* line(terminal, "  why (or nothing): ") : ""
    yield* err.write(`${err.style.dim(`  ${said[reply.reply]}`)}\n`)
    return why.trim() === "" ? reply : { ...reply, message: why.trim() }
  })

const wanted = (item: QuestionItem): string => {
  const number = item.options.length === 0 ? [] : [item.multiple === true ? "numbers, with commas" : "a number"]
  return [...number, ...(takesWords(item) ? ["your own words"] : []), REJECT].join(", or ")
}

/** Puts a question to the person at the terminal, one thing after the other. */
export const askQuestion = (
  terminal: Terminal,
  err: Writer,
  question: Question,
  session: string
): Effect.Effect<QuestionReply, Gone> =>
  Effect.gen(function* () {
    const answers: Array<ReadonlyArray<string>> = []
    const { questions } = question
    yield* err.write(askerText(question, err, session))
    for (const [at, item] of questions.entries()) {
      yield* err.write(itemText(item, at, questions.length, err))
      const answer = yield* until<ReadonlyArray<string> | undefined>(terminal, err, `  ${wanted(item)}: `, (typed) =>
        typed.trim() === REJECT ? Either.right(undefined) : readAnswer(typed, item)
      )
      if (answer === undefined) return "reject"
      answers.push(answer)
    }
    return answers
  })
