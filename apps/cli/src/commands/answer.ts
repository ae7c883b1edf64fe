import type { Question, ServerName, SessionId } from "@harness/protocol"
import { Effect, Either, Option } from "effect"
import { askQuestion } from "../asking/person.ts"
import { readAnswer } from "../asking/reading.ts"
import type { Running } from "../command.ts"
import { type Connected, connect, type Where } from "../connect.ts"
import { failed, misused } from "../failures.ts"
import { openQuestions } from "../openAsks.ts"
import { answer as tell } from "../render/answer.ts"
import { questionListing } from "../render/asks.ts"
import { count, oneLine } from "../render/text.ts"
import { Surroundings } from "../Surroundings.ts"

interface AnswerOptions extends Where {
  readonly server: ServerName
  readonly session: SessionId | undefined
  readonly reject: boolean
  readonly json: boolean
}

const minted = /^que_[0-9A-HJKMNP-TV-Z]{26}$/

/** A first word that looks like a question's id is one: the rest is the answer. */
const apart = (words: ReadonlyArray<string>) => {
  const [first, ...rest] = words
  return first !== undefined && minted.test(first) ? { id: first, answers: rest } : { id: undefined, answers: words }
}

const list = ({ json, session }: AnswerOptions, open: ReadonlyArray<Question>) =>
  Effect.flatMap(Surroundings, ({ out }) => tell(json, { questions: open }, () => questionListing(open, out, session)))

/** The question that is meant: the one that is named, or the only one there is. */
const meant = ({ ask, client }: Connected, options: AnswerOptions, id: string | undefined) =>
  Effect.gen(function* () {
    const { server, session } = options
    const open = yield* ask(openQuestions(client, { server, sessionId: session }))
    const [question, another] = id === undefined ? open : open.filter(({ questionId }) => questionId === id)
    if (question !== undefined && another === undefined) return question
    if (id !== undefined) {
      return yield* failed({
        code: "question.not_found",
        message: `no open question ${id}`,
        hint: "`harness answer` lists those that are open"
      })
    }
    if (question === undefined) {
      const where = session === undefined ? "" : `in ${session} or below it `
      return yield* failed({ code: "question.none", message: `nothing ${where}waits for an answer` })
    }
    yield* list(options, open)
    return yield* failed({
      code: "question.several",
      message: `${count(open.length, "question")} wait for an answer: name one`
    })
  })

/** Words of a command line as answers: one each, or, where one thing is asked, all of them together. */
const read = ({ questions }: Question, words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const given = questions.length === 1 ? [words.join(" ")] : words
    if (given.length !== questions.length) {
      return yield* misused(
        `${questions.length} answers are due, and there are ${given.length}`,
        "one argument for each"
      )
    }
    return yield* Effect.forEach(questions, (item, at) =>
      Either.match(readAnswer(given[at] ?? "", item), {
        onLeft: (wanted) => misused(`"${oneLine(item.question, 80)}" takes ${wanted}`),
        onRight: (answers) => Effect.succeed(answers)
      })
    )
  })

/** Answers what an agent asks, in words of the command line or of the person at the terminal. */
export const answer = (options: AnswerOptions, words: ReadonlyArray<string>): Running =>
  Effect.gen(function* () {
    const { err, terminal } = yield* Surroundings
    const { json, reject, server } = options
    const { answers, id } = apart(words)
    if (reject && answers.length > 0) return yield* misused("--reject takes no answer")
    const connected = yield* connect(options)
    const { ask, client } = connected
    const question = yield* meant(connected, options, id)
    const { questionId, sessionId } = question
    const at = { server, sessionId, questionId }
    const told = (outcome: { readonly outcome: string }) =>
      tell(json, outcome, (style) => `${questionId} ${style.bold(outcome.outcome)}\n`)
    if (reject) return yield* told(yield* ask(client.questions.reject(at)))
    if (answers.length > 0) {
      return yield* told(yield* ask(client.questions.reply({ ...at, answers: yield* read(question, answers) })))
    }
    if (json || Option.isNone(terminal)) {
      yield* list(options, [question])
      return yield* failed({ code: "question.unanswered", message: "there is no answer: name one, or --reject" })
    }
    const said = yield* askQuestion(terminal.value, err, question, options.session ?? sessionId).pipe(
      Effect.mapError(() =>
        failed({ code: "question.unanswered", message: "there is no answer; the question is open" })
      )
    )
    return yield* told(
      yield* ask(said === "reject" ? client.questions.reject(at) : client.questions.reply({ ...at, answers: said }))
    )
  })
