import type { Answers, Question, SessionId, SubmitPromptRequestValue } from "@harness/protocol"
import { callTurn, type TurnInput } from "@harness/protocol/jambonz"
import { Clock, Effect } from "effect"
import { Permissions } from "../asks/Permissions.ts"
import { Questions } from "../asks/Questions.ts"
import { HistoryRepo } from "../history/HistoryRepo.ts"
import { CommitRoom } from "../log/Commit.ts"
import type { LogRow } from "../log/fact.ts"
import { fromColumn } from "../storage/columns.ts"
import { Submissions } from "../turns/Submissions.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import { beginReply, rowOf } from "./replies.ts"
import type { Reply } from "./Speaker.ts"
import { sayLine } from "./sayLine.ts"
import { type Asking, CALLER, mintId, newReply, type Scene } from "./scene.ts"

/** A turn that is taken up again asks at most so much at once. */
const ASKS_MAX = 20

type Speech = Extract<TurnInput, { readonly type: "speech" }>

/** The prompt of a caller's words. How sure the recogniser was is kept, and not shown to the model. */
export const spokenPrompt = ({ confidence, language, text }: Speech): SubmitPromptRequestValue => ({
  content: text,
  custom: {
    type: "voice.speech",
    details: {
      ...(language === undefined ? {} : { language }),
      ...(confidence === undefined ? {} : { confidence })
    }
  }
})

/** What a row of the log asks. */
export const askingOf = (row: LogRow): Asking => {
  const said = fromColumn<
    { readonly question: Question } | { readonly request: Extract<Asking, { _tag: "Permission" }>["request"] }
  >(`{${row.body}`)
  return "question" in said
    ? { _tag: "Question", question: said.question }
    : { _tag: "Permission", request: said.request }
}

const listed = (labels: ReadonlyArray<string>): string =>
  labels.length < 2 ? labels.join("") : `${labels.slice(0, -1).join(", ")} or ${labels.at(-1)}`

/** A question, as it is asked aloud. */
const aloud = (asking: Asking): string =>
  asking._tag === "Permission"
    ? `May I do this: ${asking.request.title}? Please say yes or no.`
    : asking.question.questions
        .map(({ options, question }) =>
          options.length === 0 ? question : `${question} ${listed(options.map(({ label }) => label))}?`
        )
        .join(" ")

/** The reply so far is said to its end; the turn waits for what the caller says to it. */
const endHere = (scene: Scene, reply: Reply) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    scene.timers.clear("filler")
    scene.speaker.end(reply, undefined)
    const { sessionId } = scene
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const row = yield* VoiceRepo.findReply(tx, sessionId, reply.replyId)
        if (row === undefined) return
        const said = yield* HistoryRepo.saidBy(tx, sessionId, reply.turnId)
        yield* VoiceRepo.putReply(tx, { ...row, state: "done", lines: reply.lines, endEntry: said.length })
      })
    )
  })

/** Somebody is asked something: on a call that is the caller, aloud, or nobody. */
export const ask = (scene: Scene, asking: Asking) =>
  Effect.gen(function* () {
    const permissions = yield* Permissions
    const { turnId } = asking._tag === "Question" ? asking.question : asking.request
    const reply = scene.speaker.byTurn(turnId)
    if (asking._tag === "Permission" && (!scene.voice.askPermissions || reply === undefined)) {
      const { requestId, sessionId } = asking.request
      const no = { reply: "reject" as const, message: "Nobody can be asked for this on a call." }
      yield* Effect.ignore(permissions.reply(sessionId, requestId, no, CALLER))
      return
    }
    if (reply === undefined) return
    if (reply.over) {
      // Before a restart: it ended with the question.
      if (reply.restored) scene.asking ??= asking
      return
    }
    scene.asking = asking
    const line = aloud(asking)
    const isSaid = reply.restored && reply.lines.at(-1)?.text === line
    // A question is a part of its turn as it is.
    if (!isSaid && asking._tag === "Question") scene.speaker.line(reply, line)
    else if (!isSaid) yield* sayLine(scene, reply, line)
    yield* endHere(scene, reply)
  })

/** What is still asked of somebody, oldest first. */
export const openAsks = (sessionId: SessionId) =>
  Effect.gen(function* () {
    const permissions = yield* Permissions
    const questions = yield* Questions
    const asked = yield* questions.open(sessionId, { limit: ASKS_MAX })
    const wanted = yield* permissions.open(sessionId, { limit: ASKS_MAX })
    return [
      ...asked.questions.map((question): Asking => ({ _tag: "Question", question })),
      ...wanted.permissions.map((request): Asking => ({ _tag: "Permission", request }))
    ]
  }).pipe(Effect.orElseSucceed((): ReadonlyArray<Asking> => []))

const yes = /^\W*(yes|yeah|yep|sure|ok|okay|please|go ahead|ja|oui|s[ií]|sim|da|hai|はい|да|是|好)(\W|$)/iu

/** The caller's words as answers: a label that is said in them, or the words themselves. */
const answersOf = ({ questions }: Question, words: string): Answers =>
  questions.map(({ options }) => {
    const said = words.toLowerCase()
    const label = options.find((option) => said.includes(option.label.toLowerCase()))?.label
    return [label ?? words]
  })

const settle = (scene: Scene, asking: Asking, words: string) =>
  Effect.gen(function* () {
    const permissions = yield* Permissions
    const questions = yield* Questions
    const { sessionId } = scene
    if (asking._tag === "Permission") {
      const reply = yes.test(words) ? ({ reply: "once" } as const) : ({ reply: "reject", message: words } as const)
      return yield* Effect.ignore(permissions.reply(sessionId, asking.request.requestId, reply, CALLER))
    }
    const { questionId } = asking.question
    const replied = questions.reply(sessionId, questionId, answersOf(asking.question, words), CALLER)
    yield* Effect.ignore(Effect.orElse(replied, () => questions.reject(sessionId, questionId, CALLER)))
  })

/** The caller's next words are the answer: they join the turn that asked, and what it says then answers them. */
export const answerAsked = (scene: Scene, asking: Asking, turnNumber: number, input: string, speech: Speech) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const submissions = yield* Submissions
    const { turnId } = asking._tag === "Question" ? asking.question : asking.request
    const { sessionId } = scene
    const before = scene.speaker.byTurn(turnId)
    if (before !== undefined) scene.speaker.forget(before)
    scene.asking = undefined
    const reply = newReply({
      replyId: yield* mintId,
      turnId,
      turnNumber,
      model: scene.agent,
      startedAt: yield* Clock.currentTimeMillis
    })
    beginReply(scene, reply, input)
    yield* room.commit<void, never>((tx) =>
      Effect.gen(function* () {
        const said = yield* HistoryRepo.saidBy(tx, sessionId, turnId)
        yield* VoiceRepo.putReply(tx, rowOf(scene, reply, { input, firstEntry: said.length }))
        yield* VoiceRepo.setLastTurn(tx, sessionId, turnNumber)
      })
    )
    const words = { ...spokenPrompt(speech), whenBusy: "steer" as const }
    yield* Effect.ignoreLogged(submissions.submit(sessionId, callTurn(scene.callSid, turnNumber), words, CALLER))
    yield* settle(scene, asking, speech.text)
  })
