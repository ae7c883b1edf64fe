import type { PermissionRequest, Question } from "@harness/protocol"
import { type Asked, errorBody, fakeFetch, json } from "./fakeFetch.ts"
import { session, turn } from "./log.ts"

/** Connections of one event stream, each fed by hand. */
const liveStream = () => {
  const encoder = new TextEncoder()
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>()
  let opened = 0
  return {
    answer: (signal: AbortSignal | null | undefined): Response => {
      opened++
      return new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            open.add(controller)
            const end = () => open.delete(controller) && controller.error(signal?.reason)
            signal?.addEventListener("abort", end, { once: true })
          }
        }),
        { headers: { "content-type": "text/event-stream" } }
      )
    },
    say: (...frames: ReadonlyArray<string>) => {
      for (const controller of open) for (const frame of frames) controller.enqueue(encoder.encode(frame))
    },
    cut: () => {
      for (const controller of open) controller.error(new TypeError("terminated"))
      open.clear()
    },
    opened: () => opened,
    isOpen: () => open.size > 0
  }
}

type Answer = (asked: Asked) => Response | Promise<Response> | undefined

/** A server on which asks can be open, of a turn and of sessions below its own; its streams say what they are told to. */
export const askServer = (special: Answer = () => undefined) => {
  const open = { permissions: [] as PermissionRequest[], questions: [] as Question[] }
  const [ofTurn, ofServer] = [liveStream(), liveStream()]
  const replies: Array<string> = []
  const own = (at: { readonly sessionId: string }) => at.sessionId === session.sessionId
  const listOf = (path: string) => {
    const below = path.includes("/descendants/")
    if (path.endsWith("/permissions"))
      return { permissions: open.permissions.filter((at) => own(at) !== below), next: null }
    return path.endsWith("/questions")
      ? { questions: open.questions.filter((at) => own(at) !== below), next: null }
      : undefined
  }
  const replyTo = (path: string, body: string) => {
    const [, id = "", verb = ""] = /\/(?:permissions|questions)\/([^/]+)\/(reply|reject)$/.exec(path) ?? []
    replies.push(`${verb} ${id.slice(0, 4)}${Number(id.slice(4))} ${body}`.trim())
    const isOpen =
      open.permissions.some((one) => one.requestId === id) || open.questions.some((one) => one.questionId === id)
    if (!isOpen)
      return json(409, errorBody("ConflictError", id.startsWith("req") ? "permission.settled" : "question.settled"))
    open.permissions = open.permissions.filter(({ requestId }) => requestId !== id)
    open.questions = open.questions.filter(({ questionId }) => questionId !== id)
    if (id.startsWith("req")) return json(200, { requestId: id, reply: JSON.parse(body).reply, alsoSettled: [] })
    return json(200, { questionId: id, outcome: verb === "reject" ? "rejected" : "replied" })
  }
  const fake = fakeFetch((asked) => {
    const path = asked.url.pathname
    const answer = special(asked)
    if (answer !== undefined) return answer
    if (asked.method === "PUT") return json(202, { ...turn, disposition: "started", cursor: 2 })
    if (asked.method === "POST") return replyTo(path, asked.body ?? "")
    if (path.endsWith("/turns/turn-1/events")) return ofTurn.answer(asked.signal)
    if (path.endsWith("/servers/main/events")) return ofServer.answer(asked.signal)
    const list = listOf(path)
    return list === undefined ? json(404, errorBody("NotFoundError", "route.not_found")) : json(200, list)
  })
  /** How often a list was asked for. */
  const lists = () => fake.asked.filter(({ url }) => /\/(permissions|questions)$/.test(url.pathname)).length
  return { fake, open, replies, ofTurn, ofServer, lists }
}
