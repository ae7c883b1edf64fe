import type {
  Answers,
  PermissionReply,
  PermissionReplyRequestValue,
  PermissionRequest,
  Question
} from "@harness/protocol"
import { Effect, Option, Stream } from "effect"
import type { ClientError } from "./errors.ts"
import type { SessionAt } from "./input.ts"
import type { Ask } from "./OpenAsks.ts"
import type { permissions, questions } from "./permissions.ts"

/** What a person says to a permission request. */
export type AskReply = PermissionReply | PermissionReplyRequestValue

/** What a person says to a question: a list of labels, or own words, for each thing it asks. Or that there is no answer. */
export type QuestionReply = Answers | "reject"

/** Who answers. Without an answer, as without a callback, an ask stays open for others. */
export interface Attending {
  /** Whether a call may run. Interrupted when somebody else was faster. */
  readonly onAsk?: ((request: PermissionRequest) => Effect.Effect<AskReply | undefined>) | undefined
  /** What the agent wants to know. Interrupted when somebody else was faster. */
  readonly onQuestion?: ((question: Question) => Effect.Effect<QuestionReply | undefined>) | undefined
}

/** An answer, on its way. */
export type Answered = Effect.Effect<unknown, ClientError>

type Page<A> = Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly next: string | null }, ClientError>

const everyPage = <A>(page: (after: string | undefined) => Page<A>): Effect.Effect<ReadonlyArray<A>, ClientError> =>
  Stream.paginateEffect(Option.none<string>(), (after) =>
    Effect.map(page(Option.getOrUndefined(after)), ({ items, next }) => [
      items,
      next === null ? Option.none() : Option.some(Option.some(next))
    ])
  ).pipe(Stream.runFold<ReadonlyArray<A>, ReadonlyArray<A>>([], (all, items) => [...all, ...items]))

const gone = new Set(["permission.settled", "question.settled", "session.deleted"])

/** There is nothing left to answer: somebody was faster, or the turn is gone. */
const isOver = (error: ClientError): boolean =>
  error._tag === "NotFoundError" || (error._tag === "ConflictError" && gone.has(error.code))

/** The asks of sessions: which are open, and how to answer one. */
export const askDesk = (permission: ReturnType<typeof permissions>, question: ReturnType<typeof questions>) => {
  const requests = (list: typeof permission.list, at: SessionAt) =>
    everyPage((after) =>
      Effect.map(list({ ...at, after }), ({ next, permissions }) => ({
        items: permissions.map((request): Ask => ({ kind: "permission", id: request.requestId, request })),
        next
      }))
    )
  const asked = (list: typeof question.list, at: SessionAt) =>
    everyPage((after) =>
      Effect.map(list({ ...at, after }), ({ next, questions }) => ({
        items: questions.map((question): Ask => ({ kind: "question", id: question.questionId, question })),
        next
      }))
    )

  return {
    /** What a turn and every session below its own wait for somebody to say: of the kinds there is a callback for. */
    open: (at: SessionAt, turnId: string, { onAsk, onQuestion }: Attending) =>
      Effect.map(
        Effect.all(
          [
            ...(onAsk === undefined ? [] : [requests(permission.list, at), requests(permission.below, at)]),
            ...(onQuestion === undefined ? [] : [asked(question.list, at), asked(question.below, at)])
          ],
          { concurrency: "unbounded" }
        ),
        (lists) =>
          lists.flat().filter((ask) => {
            const { sessionId, turnId: asker } = ask.kind === "permission" ? ask.request : ask.question
            // Another turn of the same session has somebody of its own to answer it.
            return sessionId !== at.sessionId || asker === turnId
          })
      ).pipe(Effect.catchTag("NotFoundError", () => Effect.succeed<ReadonlyArray<Ask>>([]))),

    /** Puts an ask to the callback for it. Answers how to send what it said. */
    put: (server: string, ask: Ask, { onAsk, onQuestion }: Attending): Effect.Effect<Answered | undefined> => {
      if (ask.kind === "permission") {
        const { requestId, sessionId } = ask.request
        return Effect.map(onAsk?.(ask.request) ?? Effect.succeed(undefined), (said) =>
          said === undefined
            ? undefined
            : sent(
                permission.reply({
                  server,
                  sessionId,
                  requestId,
                  ...(typeof said === "string" ? { reply: said } : said)
                })
              )
        )
      }
      const { questionId, sessionId } = ask.question
      const at = { server, sessionId, questionId }
      return Effect.map(onQuestion?.(ask.question) ?? Effect.succeed(undefined), (said) =>
        said === undefined
          ? undefined
          : sent(said === "reject" ? question.reject(at) : question.reply({ ...at, answers: said }))
      )
    }
  }
}

const sent = (reply: Answered): Answered => Effect.catchIf(reply, isOver, () => Effect.void)
