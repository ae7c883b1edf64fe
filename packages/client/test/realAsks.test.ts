import { describe, expect, it } from "@effect/vitest"
import { type PermissionRequest, type Question, SessionId } from "@harness/protocol"
import { Deferred, Effect, Fiber } from "effect"
import { type AskReply, HarnessClient } from "../src/Client.ts"
import { realServer } from "./kit/realServer.ts"

const session = { server: "main", sessionId: "notes" }
const shell = (command: string) => `use shell ${JSON.stringify({ command })}`
const task = (prompt: string) => `use task ${JSON.stringify({ prompt })}`

const clientOf = ({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }) =>
  HarnessClient.make({ baseUrl, token, clientId: "test" })

describe("asks of the real server", () => {
  it.scopedLive("of a turn, of its sub-agents and of theirs are each put once, and answered", () =>
    Effect.gen(function* () {
      const client = yield* clientOf(yield* realServer())
      const asked: Array<string> = []
      const questions = [{ question: "Which?", header: "", options: [{ label: "a", description: "" }] }]
      const turn = yield* client.runTurn({
        ...session,
        session: {},
        content: [
          shell("echo top"),
          task(task(shell("echo deep"))),
          `use question ${JSON.stringify({ questions })}`
        ].join("\n"),
        onAsk: ({ detail, sessionId }: PermissionRequest) =>
          Effect.sync((): AskReply => {
            asked.push(`${sessionId === SessionId.make("notes") ? "own" : "below"} ${detail}`)
            return detail === "echo top" ? "once" : { reply: "reject", message: "not now" }
          }),
        onQuestion: ({ questions }: Question) =>
          Effect.sync(() => {
            asked.push(questions.map(({ question }) => question).join())
            return [["a"]]
          })
      })
      expect(turn.state).toBe("completed")
      expect(asked.toSorted()).toEqual(["Which?", "below echo deep", "own echo top"])
      const results = turn.parts.flatMap((part) => (part.type === "tool" ? [JSON.stringify(part.result?.content)] : []))
      expect(results.join("\n")).toMatch(/top/)
      expect(results.join("\n")).toMatch(/not now/)
      for (const list of [client.permissions.list, client.permissions.below]) {
        expect((yield* list(session)).permissions).toEqual([])
      }
    })
  )

  it.scopedLive(
    "are still open, under the same ids, when the server was killed; nobody is asked twice, no answer is lost",
    () =>
      Effect.gen(function* () {
        const server = yield* realServer()
        const client = yield* clientOf(server)
        const [asked, answer] = [yield* Deferred.make<string>(), yield* Deferred.make<AskReply>()]
        let times = 0
        const fiber = yield* Effect.fork(
          client.runTurn({
            ...session,
            session: {},
            content: shell("echo back"),
            onAsk: ({ requestId }) =>
              Effect.zipRight(
                Effect.suspend(() => {
                  times++
                  return Deferred.succeed(asked, requestId)
                }),
                Deferred.await(answer)
              )
          })
        )
        const requestId = yield* Deferred.await(asked)
        yield* server.kill
        // The answer is given while there is no server to give it to.
        yield* Deferred.succeed(answer, "always")
        yield* server.start
        const turn = yield* Fiber.join(fiber)
        expect(turn.state).toBe("completed")
        expect(turn.finalText).toContain("back")
        expect(times).toBe(1)
        expect((yield* client.permissions.reply({ ...session, requestId, reply: "always" })).requestId).toBe(requestId)
        expect((yield* client.permissions.grants(session)).grants.length).toBe(1)
      })
  )

  it.scopedLive("of which somebody else answers one are taken back", () =>
    Effect.gen(function* () {
      const server = yield* realServer()
      const [client, other] = [yield* clientOf(server), yield* clientOf(server)]
      const [asked, taken] = [yield* Deferred.make<PermissionRequest>(), yield* Deferred.make<void>()]
      const fiber = yield* Effect.fork(
        client.runTurn({
          ...session,
          session: {},
          content: task(shell("echo deep")),
          onAsk: (request) =>
            Effect.onInterrupt(Effect.zipRight(Deferred.succeed(asked, request), Effect.never), () =>
              Deferred.succeed(taken, undefined)
            )
        })
      )
      const { requestId, sessionId } = yield* Deferred.await(asked)
      yield* other.permissions.reply({ server: "main", sessionId, requestId, reply: "once" })
      yield* Deferred.await(taken)
      expect((yield* Fiber.join(fiber)).finalText).toContain("deep")
    })
  )
})

describe("the other new routes of the real server", () => {
  it.scopedLive("answer what their types say", () =>
    Effect.gen(function* () {
      const { agents, calls, compactions, hooks, runtime, sessions, webhooks, runTurn } = yield* clientOf(
        yield* realServer()
      )
      yield* runTurn({ ...session, session: {}, content: "hello" })
      const at = { ...session, compactionId: "c1" }
      expect((yield* compactions.submit({ ...at, instructions: "short" })).disposition).toBe("accepted")
      expect((yield* compactions.submit({ ...at, instructions: "short" })).disposition).toBe("deduplicated")
      expect((yield* compactions.list(session)).compactions.map(({ compactionId }) => compactionId)).toEqual(["c1"])
      expect((yield* compactions.get(at)).compactionId).toBe("c1")
      expect((yield* agents.list(session)).agents.map(({ name }) => name)).toContain("general")
      const hook = { server: "main", hookId: "h1" }
      const put = yield* hooks.put({ ...hook, point: "pre-tool", url: "https://example.com/" })
      expect(put.secret).toMatch(/^whsec_/)
      expect((yield* hooks.list({ server: "main" })).hooks.map(({ secret }) => secret)).toEqual([undefined])
      expect(yield* hooks.delete(hook)).toEqual({ hookId: "h1", removed: true })
      const webhook = { server: "main", webhookId: "w1" }
      expect((yield* webhooks.put({ ...webhook, url: "https://example.com/", secret: "whsec_c2VjcmV0" })).secret).toBe(
        undefined
      )
      expect((yield* webhooks.redeliver({ ...webhook, afterServerCursor: 0 })).webhookId).toBe("w1")
      expect((yield* webhooks.list({ server: "main" })).webhooks.length).toBe(1)
      expect((yield* webhooks.delete(webhook)).removed).toBe(true)
      expect((yield* runtime.reload()).failures).toEqual([])
      expect((yield* sessions.background(session)).detached).toBe(false)
      const none = yield* calls.resolve({ ...session, turnId: "t1", callId: "call_1", content: "x" })
      expect(none).toEqual({ resolved: false, turnResumed: false })
    })
  )
})
