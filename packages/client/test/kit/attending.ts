import { expect } from "@effect/vitest"
import type { PermissionRequest, Question } from "@harness/protocol"
import { Effect, Exit, type Fiber } from "effect"
import { type AskReply, HarnessClient, type QuestionReply, type RunTurn } from "../../src/Client.ts"
import type { askServer } from "./askServer.ts"
import { settle, untilDone } from "./clock.ts"
import { onTurn, snapshot, turn } from "./log.ts"

type Server = ReturnType<typeof askServer>

const done = snapshot(50, { state: "completed" })
/** How the turn stands when somebody comes. */
export const opening = onTurn.opening(snapshot(2))

/** A turn somebody waits for. */
export const run = (server: Server, input: Partial<RunTurn>) =>
  Effect.gen(function* () {
    const client = yield* HarnessClient.make({ baseUrl: "http://fake.test", fetch: server.fake.fetch, retries: 0 })
    const fiber = yield* Effect.fork(client.runTurn({ ...turn, content: "go", ...input }))
    yield* settle
    return fiber
  })

/** Lets it end well. */
export const ends = (server: Server, fiber: Fiber.RuntimeFiber<unknown, unknown>) =>
  Effect.gen(function* () {
    server.ofTurn.say(onTurn.terminal(done))
    const { exit } = yield* untilDone(fiber)
    expect(Exit.isSuccess(exit)).toBe(true)
  })

/** A person who says this to everything, and remembers what was asked. */
export const person = (says: { readonly ask?: AskReply; readonly question?: QuestionReply }) => {
  const asked: Array<string> = []
  const number = (id: string) => `${id.slice(0, 4)}${Number(id.slice(4))}`
  return {
    asked,
    onAsk: ({ requestId, sessionId }: PermissionRequest) =>
      Effect.sync(() => {
        asked.push(`${number(requestId)} ${sessionId}`)
        return says.ask
      }),
    onQuestion: ({ questionId, sessionId }: Question) =>
      Effect.sync(() => {
        asked.push(`${number(questionId)} ${sessionId}`)
        return says.question
      })
  }
}
