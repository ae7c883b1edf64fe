import { assert, describe, it } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import type { ModelMessage } from "../../src/providers/Model.ts"
import { assertValidRequest, requestProblems } from "../kit/scriptedModel.ts"
import { call, result } from "./messages.ts"
import { ask, collect, openaiOver, scripted, user } from "./support.ts"

const png = "iVBORw0KGgo="

/** The messages a stub gets, system message left out. */
const sent = (messages: ReadonlyArray<ModelMessage>, name = "openai/any-name") =>
  Effect.gen(function* () {
    const stub = yield* scripted()
    yield* collect(yield* openaiOver(stub, {}, name), ask(...messages))
    const body = stub.requests[0]?.body
    assertValidRequest(body)
    const list: unknown = Predicate.isRecord(body) ? body["messages"] : undefined
    return Array.isArray(list) ? list.slice(1) : []
  })

describe("what a provider is sent", () => {
  it.scoped("calls, their results right behind them, then what came meanwhile", () =>
    Effect.gen(function* () {
      const messages = yield* sent([
        user("go"),
        {
          role: "assistant",
          content: [{ type: "text", text: "ok" }, call(1, "read", { path: "a" }), call(2, "list", undefined)]
        },
        result(1, "read", "A"),
        result(2, "list", ""),
        user("and?")
      ])
      const id = (number: number) => `call_0000000000000000000000000${number}`
      assert.deepStrictEqual(messages, [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "ok",
          tool_calls: [
            { id: id(1), type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
            { id: id(2), type: "function", function: { name: "list", arguments: "{}" } }
          ]
        },
        { role: "tool", tool_call_id: id(1), content: "A" },
        { role: "tool", tool_call_id: id(2), content: "(no output)" },
        { role: "user", content: "and?" }
      ])
    })
  )

  it.scoped("blank text, empty messages and reasoning at the end are left out", () =>
    Effect.gen(function* () {
      const messages = yield* sent([
        user("a"),
        { role: "assistant", content: [{ type: "text", text: "" }] },
        { role: "user", content: [{ type: "text", text: " \n" }] },
        {
          role: "assistant",
          content: [
            { type: "text", text: "half" },
            { type: "reasoning", text: "hm" }
          ]
        },
        user("b")
      ])
      assert.deepStrictEqual(messages, [
        { role: "user", content: "a" },
        { role: "assistant", content: "half" },
        { role: "user", content: "b" }
      ])
    })
  )

  it.scoped("unsigned reasoning goes back while its turn goes on, and not later", () =>
    Effect.gen(function* () {
      const step: ReadonlyArray<ModelMessage> = [
        { role: "assistant", content: [{ type: "reasoning", text: "hm" }, call(1, "read", {})] },
        result(1, "read", "A")
      ]
      const during = yield* sent([user("go"), ...step])
      assert.strictEqual(during[1].reasoning_content, "hm")
      const later = yield* sent([user("go"), ...step, user("next")])
      assert.notProperty(later[1], "reasoning_content")
    })
  )

  it.scoped("names and arguments a model made up are sent in a form every provider takes", () =>
    Effect.gen(function* () {
      const messages = yield* sent([
        user("go"),
        { role: "assistant", content: [call(1, "röad.x", '{"pa'), call(2, "", [1])] },
        result(1, "röad.x", "no such tool"),
        result(2, "", "no such tool")
      ])
      assert.deepStrictEqual(
        messages[1].tool_calls.map((item: { function: unknown }) => item.function),
        [
          { name: "r_ad_x", arguments: '{"unreadable":"{\\"pa"}' },
          { name: "_", arguments: '{"unreadable":[1]}' }
        ]
      )
    })
  )

  it.scoped("images go to models that see, a note to the others", () =>
    Effect.gen(function* () {
      const content: ReadonlyArray<ModelMessage> = [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image", mime: "image/png", data: png }
          ]
        }
      ]
      const [seen] = yield* sent(content)
      assert.deepStrictEqual(seen.content[1], { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } })
      const [blind] = yield* sent(content, "openai/gpt-3.5-turbo")
      assert.include(blind.content[1].text, "image/png left out")
    })
  )

  it.scoped("an image a tool made follows all results of its step", () =>
    Effect.gen(function* () {
      const messages = yield* sent([
        user("go"),
        { role: "assistant", content: [call(1, "shot", {}), call(2, "read", {})] },
        { ...result(1, "shot", "taken"), content: [{ type: "image", mime: "image/png", data: png }] },
        result(2, "read", "A")
      ])
      assert.deepStrictEqual(
        messages.map((message) => message.role),
        ["user", "assistant", "tool", "tool", "user"]
      )
      assert.strictEqual(messages[4].content[1].type, "image_url")
    })
  )

  it.scoped("text files are read to the model, others named", () =>
    Effect.gen(function* () {
      const file = (mime: string, name: string, text: string) =>
        ({ type: "file", mime, name, data: Buffer.from(text).toString("base64") }) as const
      const [message] = yield* sent([
        { role: "user", content: [file("text/csv", "a.csv", "é,1"), file("application/zip", "b.zip", "x")] }
      ])
      assert.include(message.content[0].text, "é,1")
      assert.include(message.content[1].text, '"b.zip" application/zip left out')
    })
  )

  it.scoped("no lone surrogate goes out, wherever it hides", () =>
    Effect.gen(function* () {
      const bad = "x\ud83d"
      const messages = yield* sent([
        user(bad),
        { role: "assistant", content: [{ type: "text", text: bad }, call(1, "read", { [bad]: [bad] })] },
        result(1, "read", bad)
      ])
      assert.strictEqual(messages[0].content, "x\uFFFD")
      assert.strictEqual(messages[1].tool_calls[0].function.arguments, '{"x\uFFFD":["x\uFFFD"]}')
    })
  )

  it.scoped("JSON without a schema is asked for in words too", () =>
    Effect.gen(function* () {
      const stub = yield* scripted()
      yield* collect(yield* openaiOver(stub), { ...ask(), output: {} })
      assert.deepNestedInclude(stub.requests[0]?.body, { "response_format.type": "json_object" })
      assert.include(stub.requests[0]?.text, "JSON value")
    })
  )
})

describe("the checker of requests", () => {
  const toolCall = (id: string, name = "read") => ({ id, type: "function", function: { name, arguments: "{}" } })
  const problems = (...messages: ReadonlyArray<unknown>) => requestProblems({ messages }).join("\n")

  it("finds each fault", () => {
    const asks = { role: "assistant", content: null, tool_calls: [toolCall("a"), toolCall("b")] }
    const answers = (id: string) => ({ role: "tool", tool_call_id: id, content: "x" })
    const said = { role: "user", content: "hi" }
    assert.strictEqual(problems(said, asks, answers("b"), answers("a"), said), "")
    assert.include(problems(said, asks, answers("a"), said), "comes before the result of b")
    assert.include(problems(said, asks, answers("a")), "no result for b")
    assert.include(problems(said, asks, answers("a"), answers("a"), answers("b")), "which no call just before")
    assert.include(problems(said, answers("a")), "which no call just before")
    assert.include(problems({ role: "user", content: "" }), "an empty text block")
    assert.include(problems({ role: "user", content: [{ type: "text", text: "" }] }), "an empty text block")
    assert.include(problems({ role: "assistant", content: null }), "no content")
    assert.include(problems({ role: "user", content: "\ud83d" }), "a lone surrogate")
    assert.include(problems({ ...asks, tool_calls: [toolCall("a"), toolCall("a")] }), "used twice")
    assert.include(problems({ ...asks, tool_calls: [toolCall("a", "ä.ö")] }), "call name")
    assert.include(problems(), "no messages")
    assert.throws(() => assertValidRequest({ messages: [] }))
  })
})
