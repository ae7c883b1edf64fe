import { assert, describe, it } from "@effect/vitest"
import {
  CallId,
  type PermissionRequest,
  PermissionRequestId,
  type Question,
  QuestionId,
  SessionId,
  TurnId
} from "@harness/protocol"
import { Deferred, Effect, Fiber, Option, Queue } from "effect"
import { type Attendance, attendance } from "../src/asking/attendance.ts"
import { plain } from "../src/render/style.ts"
import { Surroundings, type Terminal, type Writer } from "../src/Surroundings.ts"

const ulid = (n: number) => String(n).padStart(26, "0")
const place = (n: number, session: string) => ({
  sessionId: SessionId.make(session),
  turnId: TurnId.make("t"),
  callId: CallId.make(`call_${ulid(n)}`),
  askedAt: "2026-01-01T00:00:00.000Z"
})
const request = (n: number, detail = `echo ${n}`, session = "work"): PermissionRequest => ({
  ...place(n, session),
  requestId: PermissionRequestId.make(`req_${ulid(n)}`),
  permission: "shell",
  patterns: [detail],
  title: `Run ${detail}`,
  detail,
  always: []
})
const question: Question = {
  ...place(9, "work"),
  questionId: QuestionId.make(`que_${ulid(9)}`),
  questions: [{ question: "Why?", header: "", options: [] }]
}

/** A screen and a person at it: `lines` is what they type, `shown` what they see. */
const played = (
  use: (attending: Attendance, lines: Queue.Queue<Option.Option<string>>) => Effect.Effect<void>,
  there = true
) =>
  Effect.gen(function* () {
    const shown: Array<string> = []
    const write = (text: string) => Effect.sync(() => void shown.push(text))
    const writer: Writer = { write, push: () => {}, isTerminal: true, columns: 80, style: plain }
    const lines = yield* Queue.bounded<Option.Option<string>>(8)
    const terminal: Terminal = {
      readLine: (query) => Effect.zipRight(write(query), Queue.take(lines)),
      keys: () => Effect.void
    }
    const surroundings: typeof Surroundings.Service = {
      argv: [],
      env: {},
      cwd: "/",
      home: "/",
      pid: 1,
      nodeVersion: "20",
      platform: "linux",
      out: writer,
      err: writer,
      terminal: Option.some(terminal),
      stdin: { isTerminal: true, text: Effect.succeed("") },
      stopped: Effect.never,
      unread: Effect.never
    }
    const attending = yield* attendance({
      terminal: there ? Option.some(terminal) : Option.none(),
      sessionId: "work",
      aside: (asking) => asking
    }).pipe(Effect.provideService(Surroundings, surroundings))
    yield* use(attending, lines)
    return shown.join("")
  })

describe("a person who attends", () => {
  it.effect("is asked one thing after the other, in order", () =>
    Effect.gen(function* () {
      const screen = yield* played((attending, lines) =>
        Effect.gen(function* () {
          const first = yield* Effect.fork(attending.onAsk(request(1)))
          const second = yield* Effect.fork(attending.onAsk(request(2)))
          yield* Effect.yieldNow()
          yield* Queue.offer(lines, Option.some("o"))
          assert.deepStrictEqual(yield* Fiber.join(first), { reply: "once" })
          yield* Queue.offerAll(lines, [Option.some("what?"), Option.some("r"), Option.some("because")])
          assert.deepStrictEqual(yield* Fiber.join(second), { reply: "reject", message: "because" })
        })
      )
      assert.strictEqual(
        screen,
        [
          "? shell: Run echo 1\n  │ echo 1\n  [o]nce, [r]eject:   allowed once\n",
          "? shell: Run echo 2\n  │ echo 2\n  [o]nce, [r]eject:   o or r\n  [o]nce, [r]eject:   why (or nothing):   rejected\n"
        ].join("")
      )
    })
  )

  it.effect("is let go when it is settled elsewhere, before or while it is asked", () =>
    Effect.gen(function* () {
      const screen = yield* played((attending, lines) =>
        Effect.gen(function* () {
          const first = yield* Effect.fork(attending.onAsk(request(1)))
          const second = yield* Effect.fork(attending.onAsk(request(2)))
          const third = yield* Effect.fork(attending.onQuestion(question))
          yield* Effect.yieldNow()
          yield* Fiber.interrupt(second)
          yield* Fiber.interrupt(first)
          yield* Queue.offer(lines, Option.some("for fun"))
          assert.deepStrictEqual(yield* Fiber.join(third), [["for fun"]])
        })
      )
      assert.strictEqual(
        screen,
        "? shell: Run echo 1\n  │ echo 1\n  [o]nce, [r]eject:   settled without you\n? Why?\n  your own words, or /reject: "
      )
    })
  )

  it.effect("who closes the question gives no answer; who closes the terminal rejects all that is to come", () =>
    Effect.gen(function* () {
      const rejected = yield* Deferred.make<number>()
      yield* played((attending, lines) =>
        Effect.gen(function* () {
          yield* Queue.offer(lines, Option.some("/reject"))
          assert.strictEqual(yield* attending.onQuestion(question), "reject")
          assert.deepStrictEqual(yield* attending.rejected, [])
          yield* Queue.offer(lines, Option.none())
          assert.deepInclude(yield* attending.onAsk(request(1)), { reply: "reject" })
          assert.deepInclude(yield* attending.onAsk(request(2)), { reply: "reject" })
          yield* Deferred.succeed(rejected, (yield* attending.rejected).length)
        })
      )
      assert.strictEqual(yield* Deferred.await(rejected), 2)
    })
  )
})

describe("nobody", () => {
  it.effect(
    "answers: each is rejected with one line that names the tool, by the name the model uses if it is known",
    () =>
      Effect.gen(function* () {
        const screen = yield* played(
          (attending) =>
            Effect.gen(function* () {
              yield* attending.hear({
                type: "turn.tool.requested",
                ...place(1, "work"),
                cursor: 1,
                revision: 1,
                at: "2026-01-01T00:00:00.000Z",
                call: { callId: place(1, "work").callId, name: "bash", arguments: {}, external: false }
              })
              assert.deepInclude(yield* attending.onAsk(request(1, "a\nb\u001b[2J")), { reply: "reject" })
              yield* attending.onAsk(request(2, "echo 2", "task-1"))
              assert.strictEqual(yield* attending.onQuestion(question), "reject")
              assert.deepStrictEqual(
                (yield* attending.rejected).map(({ kind, tool }) => `${kind} ${tool}`),
                ["permission bash", "permission shell", "question question"]
              )
            }),
          false
        )
        assert.strictEqual(
          screen,
          [
            'harness: "bash" was rejected, for nobody is there to allow it: Run a b␛[2J\n',
            'harness: "shell" was rejected, for nobody is there to allow it: Run echo 2 (sub-agent task-1)\n',
            'harness: "question" was rejected, for nobody is there to answer it: Why?\n'
          ].join("")
        )
      })
  )
})
