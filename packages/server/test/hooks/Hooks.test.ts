import { assert, describe, it } from "@effect/vitest"
import { CallId, HookId, type HookPoint, type PutHookRequestValue, SessionId, TurnId } from "@harness/protocol"
import { Effect, Fiber, TestClock } from "effect"
import { HookAdmin } from "../../src/hooks/HookAdmin.ts"
import { Hooks } from "../../src/hooks/Hooks.ts"
import { LocalHooks } from "../../src/hooks/LocalHooks.ts"
import { isSigned, json, type Reply, receiver, silence, status } from "./receiver.ts"
import { hooksLayer } from "./server.ts"

const subject = { sessionId: SessionId.make("s"), turnId: TurnId.make("t"), attempt: 1, step: 2 }
const call = {
  callId: CallId.make("call_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
  name: "mcp__files__write",
  arguments: { path: "a" },
  idempotencyKey: "key-of-the-call"
}
const result = { content: [{ type: "text", text: "done" }], isError: false } as const
const generation = {
  systemPrompt: "Be kind.",
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }]
} as const

/** Sets hooks by id, each answering on a path of its own name. */
const withHooks = (
  hooks: Readonly<Record<string, Partial<PutHookRequestValue> & { readonly point: HookPoint; readonly reply: Reply }>>
) =>
  Effect.gen(function* () {
    const there = yield* receiver
    const admin = yield* HookAdmin
    const secrets = new Map<string, string>()
    for (const [id, { reply, ...request }] of Object.entries(hooks)) {
      there.on(`/${id}`, reply)
      const put = yield* admin.put(HookId.make(id), { url: `${there.url}/${id}`, ...request })
      secrets.set(id, put.secret ?? "")
    }
    const asked = () => there.received.map(({ path }) => path.slice(1))
    return { hooks: yield* Hooks, there, secrets, asked }
  })

const go = json({})

describe("a hook before a tool", () => {
  it.scoped("is asked with everything about the call, signed, and again with the same id", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(2_500)
      const { hooks, secrets, there } = yield* withHooks({ gate: { point: "pre-tool", reply: status(204) } })
      const verdict = yield* hooks.preTool(subject, call)
      assert.deepEqual(verdict, { _tag: "Go", arguments: { path: "a" } })
      yield* hooks.preTool(subject, call)
      const [first, second] = there.received
      assert.deepEqual(first?.json, {
        point: "pre-tool",
        hookId: "gate",
        server: "default",
        sessionId: "s",
        turnId: "t",
        attempt: 1,
        step: 2,
        idempotencyKey: "key-of-the-call",
        call: { callId: call.callId, name: call.name, arguments: { path: "a" } }
      })
      assert.isTrue(first !== undefined && isSigned(first, secrets.get("gate") ?? ""))
      assert.strictEqual(first?.headers["webhook-timestamp"], "2")
      assert.strictEqual(first?.headers["webhook-id"], second?.headers["webhook-id"])
      assert.strictEqual(first?.headers["content-type"], "application/json")
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("hooks are asked by priority, then id, and each sees the arguments as the ones before left them", () =>
    Effect.gen(function* () {
      const rewrite =
        (add: string): Reply =>
        (response, request) =>
          json({ mutations: { arguments: { path: request.json.call.arguments.path + add } } })(response, request)
      const { asked, hooks, there } = yield* withHooks({
        z: { point: "pre-tool", priority: -1, reply: rewrite("1") },
        b: { point: "pre-tool", reply: rewrite("3") },
        a: { point: "pre-tool", reply: rewrite("2") },
        y: { point: "pre-tool", priority: 7, reply: go },
        other: { point: "post-tool", reply: go }
      })
      const verdict = yield* hooks.preTool(subject, call)
      assert.deepEqual(asked(), ["z", "a", "b", "y"])
      assert.deepEqual(there.received.at(-1)?.json.call.arguments, { path: "a123" })
      assert.deepEqual(verdict, { _tag: "Go", arguments: { path: "a123" } })
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("one that denies ends it, with its reason", () =>
    Effect.gen(function* () {
      const { asked, hooks } = yield* withHooks({
        a: {
          point: "pre-tool",
          reply: json({ decision: "deny", reason: "Not on a Sunday.", mutations: { arguments: 5 } })
        },
        b: { point: "pre-tool", reply: go }
      })
      assert.deepEqual(yield* hooks.preTool(subject, call), {
        _tag: "Denied",
        code: "hook.denied",
        reason: "Not on a Sunday."
      })
      assert.deepEqual(asked(), ["a"])
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("one that holds is the holder of the arguments so far; those behind it are asked once it lets go", () =>
    Effect.gen(function* () {
      const { asked, hooks, there } = yield* withHooks({
        a: { point: "pre-tool", reply: json({ mutations: { arguments: { path: "b" } } }) },
        b: {
          point: "pre-tool",
          reply: json({ decision: "hold", pendingTimeoutMillis: 500, mutations: { arguments: { path: "c" } } })
        },
        c: { point: "pre-tool", reply: go },
        d: { point: "pre-tool", priority: 1, reply: go }
      })
      const held = yield* hooks.preTool(subject, call)
      assert.deepEqual(held, {
        _tag: "Held",
        holder: { hookId: "b", priority: 0 },
        arguments: { path: "c" },
        pendingTimeoutMillis: 500
      })
      const verdict = yield* hooks.preTool(subject, { ...call, arguments: { path: "c" } }, { hookId: "b", priority: 0 })
      assert.deepEqual(verdict, { _tag: "Go", arguments: { path: "c" } })
      assert.deepEqual(asked(), ["a", "b", "c", "d"])
      assert.deepEqual(there.received.at(-1)?.json.call.arguments, { path: "c" })
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("one for some functions is asked about those alone", () =>
    Effect.gen(function* () {
      const { asked, hooks } = yield* withHooks({
        a: { point: "pre-tool", functions: ["shell", "mcp__*__write"], reply: go },
        b: { point: "pre-tool", functions: ["shell"], reply: go },
        c: { point: "pre-tool", functions: [], reply: go }
      })
      yield* hooks.preTool(subject, call)
      assert.deepEqual(asked(), ["a"])
    }).pipe(Effect.provide(hooksLayer()))
  )

  const broken: Readonly<Record<string, Reply>> = {
    "answers with an error": status(500),
    "answers with a status of no content but 204": status(200),
    "sends elsewhere": (response, request) =>
      status(307, { location: `http://${request.headers.host}/elsewhere` })(response, request),
    "answers no JSON": (response) => void response.end("<html>"),
    "answers JSON of another form": json([]),
    "decides what nobody knows": json({ decision: "allow" }),
    "decides in another type": json({ decision: true }),
    "holds for no time": json({ decision: "hold", pendingTimeoutMillis: 0 }),
    "rewrites into no arguments": json({ mutations: { arguments: "rm" } }),
    "breaks off": (response) => {
      response.writeHead(200, { "content-length": "100" }).write('{"decision"')
      response.destroy()
    },
    "answers without end": (response) => {
      response.writeHead(200)
      response.write(`"${"x".repeat(2 * 1024 * 1024)}`)
    }
  }
  for (const [what, reply] of Object.entries(broken)) {
    it.scoped(`one that ${what} counts as a no, or, where it may be missed, as nothing`, () =>
      Effect.gen(function* () {
        const { asked, hooks } = yield* withHooks({
          a: { point: "pre-tool", onError: "fail_open", reply },
          b: { point: "pre-tool", reply },
          c: { point: "pre-tool", reply: go }
        })
        const verdict = yield* hooks.preTool(subject, call)
        assert.deepInclude(verdict, { _tag: "Denied", code: "hook.failed" })
        assert.match(
          verdict._tag === "Denied" ? verdict.reason : "",
          /^The hook b gave no answer that can be used: .+\.$/
        )
        assert.deepEqual(asked(), ["a", "b"])
      }).pipe(Effect.provide(hooksLayer()))
    )
  }

  it.scoped("one that is silent counts as a no after its time, and is left", () =>
    Effect.gen(function* () {
      const { hooks, there } = yield* withHooks({ a: { point: "pre-tool", timeoutMillis: 700, reply: silence } })
      const asking = yield* Effect.fork(hooks.preTool(subject, call))
      yield* there.next
      yield* TestClock.adjust(699)
      assert.isNull(asking.unsafePoll())
      yield* TestClock.adjust(1)
      assert.deepEqual(yield* Fiber.join(asking), {
        _tag: "Denied",
        code: "hook.failed",
        reason: "The hook a gave no answer that can be used: It did not answer within 700 ms."
      })
      yield* there.left
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("whoever cancels ends the question too", () =>
    Effect.gen(function* () {
      const { hooks, there } = yield* withHooks({ a: { point: "pre-tool", reply: silence } })
      const asking = yield* Effect.fork(hooks.preTool(subject, call))
      yield* there.next
      yield* Fiber.interrupt(asking)
      yield* there.left
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("a private address is not called, and counts as a no", () =>
    Effect.gen(function* () {
      const admin = yield* HookAdmin
      const hooks = yield* Hooks
      for (const url of [
        "http://127.0.0.1:1/",
        "http://localhost:1/",
        "http://[::1]:1/",
        "http://0x7f.1:1/",
        "http://169.254.169.254/"
      ]) {
        yield* admin.put(HookId.make("gate"), { point: "pre-tool", url })
        const verdict = yield* hooks.preTool(subject, call)
        assert.deepInclude(verdict, { _tag: "Denied", code: "hook.failed" })
        assert.include(verdict._tag === "Denied" ? verdict.reason : "", "private")
      }
    }).pipe(Effect.provide(hooksLayer({ allowPrivate: false })))
  )
})

describe("a hook after a tool", () => {
  it.scoped("may rewrite what the model is told", () =>
    Effect.gen(function* () {
      const { hooks, there } = yield* withHooks({
        a: {
          point: "post-tool",
          reply: json({ mutations: { content: "masked", details: { n: 1 } }, annotations: { by: "a" } })
        },
        b: { point: "post-tool", reply: json({ mutations: { isError: true } }) }
      })
      const after = yield* hooks.postTool(subject, call, result)
      assert.deepEqual(there.received[0]?.json.result, result)
      assert.deepEqual(there.received[0]?.json.call.name, call.name)
      assert.deepEqual(after, {
        content: [{ type: "text", text: "masked" }],
        isError: true,
        details: { n: 1, annotations: { a: { by: "a" } }, code: "tool.failed" }
      })
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("one that fails leaves the result as it is, with a warning; one that must not fail makes it an error", () =>
    Effect.gen(function* () {
      const { hooks } = yield* withHooks({ a: { point: "post-tool", reply: json({ decision: "deny" }) } })
      assert.deepEqual(yield* hooks.postTool(subject, call, result), {
        ...result,
        details: {
          warnings: ["The hook a gave no answer that can be used: Its decision is none that this point knows."]
        }
      })
      const admin = yield* HookAdmin
      yield* admin.put(HookId.make("a"), { point: "post-tool", url: "http://127.0.0.1:1/", onError: "fail_closed" })
      const closed = yield* hooks.postTool(subject, call, result)
      assert.deepInclude(closed, { isError: true, details: { code: "hook.failed" } })
    }).pipe(Effect.provide(hooksLayer()))
  )
})

describe("a hook before a generation", () => {
  it.scoped("may add to the prompt, replace it, and append what is not stored", () =>
    Effect.gen(function* () {
      const { hooks, there } = yield* withHooks({
        a: { point: "pre-generate", reply: json({ mutations: { systemPrompt: { append: "Be brief." } } }) },
        b: {
          point: "pre-generate",
          reply: json({ mutations: { messages: [{ role: "user", content: "It is \ud83d late." }] } })
        }
      })
      const verdict = yield* hooks.preGenerate(subject, generation)
      assert.deepInclude(there.received[1]?.json, {
        systemPrompt: "Be kind.\n\nBe brief.",
        messages: generation.messages
      })
      assert.deepEqual(verdict, {
        _tag: "Go",
        generation: {
          systemPrompt: "Be kind.\n\nBe brief.",
          messages: [...generation.messages, { role: "user", content: [{ type: "text", text: "It is \uFFFD late." }] }]
        }
      })
      there.on("/b", json({ mutations: { systemPrompt: { replace: "Only this." } } }))
      assert.deepEqual(yield* hooks.preGenerate(subject, generation), {
        _tag: "Go",
        generation: { systemPrompt: "Only this.", messages: generation.messages }
      })
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("may veto, and so does one that fails or would break the request", () =>
    Effect.gen(function* () {
      const { hooks, there } = yield* withHooks({ a: { point: "pre-generate", reply: json({ decision: "deny" }) } })
      assert.deepEqual(yield* hooks.preGenerate(subject, generation), {
        _tag: "Vetoed",
        reason: "A hook denied this."
      })
      for (const messages of [[{ role: "tool", content: "x" }], [{ role: "user", content: " " }], "x"]) {
        there.on("/a", json({ mutations: { messages } }))
        const verdict = yield* hooks.preGenerate(subject, generation)
        assert.strictEqual(verdict._tag, "Vetoed")
      }
    }).pipe(Effect.provide(hooksLayer()))
  )
})

describe("hooks around a turn", () => {
  it.scoped("one before it may veto it; what only the tool's point knows is no answer here", () =>
    Effect.gen(function* () {
      const { hooks, there } = yield* withHooks({ a: { point: "pre-turn", reply: status(204) } })
      assert.deepEqual(yield* hooks.preTurn(subject), { _tag: "Go" })
      assert.notProperty(there.received[0]?.json, "call")
      there.on("/a", json({ decision: "deny", reason: "No." }))
      assert.deepEqual(yield* hooks.preTurn(subject), { _tag: "Vetoed", reason: "No." })
      there.on("/a", json({ decision: "hold" }))
      assert.strictEqual((yield* hooks.preTurn(subject))._tag, "Vetoed")
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("one after a generation is told what was said, and changes nothing, whatever it answers", () =>
    Effect.gen(function* () {
      const { hooks, there } = yield* withHooks({
        a: { point: "post-generate", onError: "fail_closed", reply: json({ decision: "deny" }) },
        b: { point: "post-generate", reply: go }
      })
      yield* hooks.postGenerate(subject, "Hello.")
      assert.deepEqual(there.received[1]?.json.messages, [
        { role: "assistant", content: [{ type: "text", text: "Hello." }] }
      ])
    }).pipe(Effect.provide(hooksLayer()))
  )
})

it.scoped("hooks of this process are asked in one order with the others, for as long as they are there", () =>
  Effect.gen(function* () {
    const { asked, hooks } = yield* withHooks({
      a: { point: "pre-tool", priority: -5, reply: json({ mutations: { arguments: { path: "b" } } }) }
    })
    const local = yield* LocalHooks
    const own = {
      hookId: "plugin",
      point: "pre-tool",
      priority: 0,
      timeoutMillis: 1000,
      onError: "fail_closed"
    } as const
    const seen: Array<unknown> = []
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* local.register({
          ...own,
          ask: (request) => Effect.sync(() => seen.push(request.call?.arguments)).pipe(Effect.as({ decision: "deny" }))
        })
        assert.strictEqual((yield* hooks.preTool(subject, call))._tag, "Denied")
        assert.deepEqual(seen, [{ path: "b" }])
      })
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* local.register({ ...own, ask: () => Effect.die(new Error("a plugin broke")) })
        assert.deepInclude(yield* hooks.preTool(subject, call), { _tag: "Denied", code: "hook.failed" })
      })
    )
    assert.deepEqual(yield* hooks.preTool(subject, call), { _tag: "Go", arguments: { path: "b" } })
    assert.deepEqual(asked(), ["a", "a", "a"])
  }).pipe(Effect.provide(hooksLayer()))
)
