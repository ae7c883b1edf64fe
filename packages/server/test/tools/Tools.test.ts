import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { CallResult } from "@harness/protocol"
import { Deferred, Effect, Either, Fiber, FastCheck as fc, Option, TestClock } from "effect"
import { parseArguments } from "../../src/tools/arguments.ts"
import { OUTPUT_MAX_BYTES } from "../../src/tools/output.ts"
import { notFound, textResult } from "../../src/tools/results.ts"
import type { Tool } from "../../src/tools/Tool.ts"
import { Tools } from "../../src/tools/Tools.ts"
import { freshContext } from "./context.ts"

const tool = (run: Tool["run"], more: Partial<Tool> = {}): Tool => ({
  name: "probe",
  description: "",
  inputSchema: { type: "object" },
  readOnly: true,
  resource: () => Effect.die("not judged here"),
  run,
  ...more
})

const call = (run: Tool["run"], more: Partial<Tool> = {}) =>
  Effect.gen(function* () {
    const context = yield* freshContext
    const tools = yield* Tools
    return { context, result: yield* tools.run(tool(run, more), {}, context) }
  }).pipe(Effect.provide(Tools.layerOf([])))

const textOf = (result: CallResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("\n")

describe("arguments", () => {
  const codeOf = (text: string) =>
    Either.match(parseArguments(text), { onLeft: (result) => result.details?.["code"], onRight: (args) => args })
  it("that are cut off or no JSON are never run", () => {
    for (const text of ['{"path":"a","content":"abc', "{", "nonsense", '{"a":1}}', '{"a":1} {"b":2}']) {
      assert.strictEqual(codeOf(text), "tool.arguments_cut")
    }
  })
  it("that are no object are never run", () => {
    for (const text of ["[]", "1", "null", '"a"']) assert.strictEqual(codeOf(text), "tool.arguments_invalid")
  })
  it("may be left out altogether", () => {
    assert.deepStrictEqual(codeOf(""), {})
    assert.deepStrictEqual(codeOf(" \n"), {})
  })
  it("are well-formed, whatever the model wrote", () => {
    assert.deepStrictEqual(codeOf('{"a\\ud83d":["\\ude00","\\ud83d\\ude00"]}'), { "a\uFFFD": ["\uFFFD", "😀"] })
  })
  it("cannot change what an object is", () => {
    const args = Either.getOrThrow(parseArguments('{"__proto__":{"a":1}}'))
    assert.isUndefined(args["a"])
  })
  it("are refused when cut at any place", () => {
    const whole = '{"path":"a","content":"abc","n":12}'
    for (let length = 1; length < whole.length; length += 1) {
      assert.isTrue(Either.isLeft(parseArguments(whole.slice(0, length))))
    }
  })

  const inputSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "https://example.com/probe",
    type: "object",
    properties: { path: { type: "string" }, list: { type: "array", items: { enum: ["a", "b"] } } },
    required: ["path"],
    additionalProperties: false
  }
  it.effect("are checked against the schema, and errors name the path and no value", () =>
    Effect.gen(function* () {
      const { check } = yield* Tools
      const probe = tool(() => Effect.die("must not run"), { inputSchema })
      assert.isTrue(Option.isNone(check(probe, { path: "a", list: ["b"] })))
      const result = Option.getOrThrow(check(probe, { list: ["a", "canary"], other: "canary" }))
      assert.deepInclude(result, { isError: true })
      assert.strictEqual(result.details?.["code"], "tool.arguments_invalid")
      for (const path of ["/path", "/list/1", "/other"]) assert.include(textOf(result), path)
      assert.notInclude(JSON.stringify(result), "canary")
      assert.isTrue(
        Option.isNone(
          check(
            tool(() => Effect.die("")),
            { anything: 1 }
          )
        )
      )
      assert.isTrue(
        Option.isNone(
          check(
            tool(() => Effect.die(""), { inputSchema: { ...inputSchema } }),
            { path: "a" }
          )
        )
      )
    }).pipe(Effect.provide(Tools.layerOf([])))
  )
  it.effect("are not run when the schema itself is broken", () =>
    Effect.gen(function* () {
      const { check } = yield* Tools
      const broken = tool(() => Effect.die(""), {
        inputSchema: { type: "object", properties: { a: { $ref: "#/none" } } }
      })
      assert.strictEqual(Option.getOrThrow(check(broken, {})).details?.["code"], "tool.schema_invalid")
    }).pipe(Effect.provide(Tools.layerOf([])))
  )
})

describe("a call", () => {
  it.scoped("is ended at its time limit, five minutes when none is named", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        call(() =>
          Deferred.succeed(started, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
          )
        )
      )
      yield* Deferred.await(started)
      yield* TestClock.adjust("299 seconds")
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* TestClock.adjust("1 second")
      const { result } = yield* Fiber.join(fiber)
      assert.isTrue(yield* Deferred.isDone(ended))
      assert.deepInclude(result, { isError: true })
      assert.strictEqual(result.details?.["code"], "tool.timeout")
    })
  )
  it.scoped("that breaks is a result, without what broke", () =>
    Effect.gen(function* () {
      const { result } = yield* call(() => Effect.die(new Error("canary")))
      assert.strictEqual(result.details?.["code"], "tool.failed")
      assert.notInclude(JSON.stringify(result), "canary")
    })
  )
  it.scoped("can be interrupted", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(call(() => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)))
      yield* Deferred.await(started)
      assert.strictEqual((yield* Fiber.interrupt(fiber))._tag, "Failure")
    })
  )
  it("to a tool nobody offers is an error result", () => {
    assert.deepInclude(notFound("x"), { isError: true, details: { code: "tool.not_found" } })
  })
})

describe("a result", () => {
  it.scoped("that is short stays as it is, and makes no file", () =>
    Effect.gen(function* () {
      const short: CallResult = { content: [{ type: "text", text: "a" }], isError: false, details: { n: 1 } }
      const { context, result } = yield* call(() => Effect.succeed(short))
      assert.deepStrictEqual(result, short)
      assert.isFalse(existsSync(context.outputDir))
    })
  )
  it.scoped("that is long is cut in the middle; a file holds all of it, and the note says so", () =>
    Effect.gen(function* () {
      const whole = `first\n${"x".repeat(1_000_000)}\nlast`
      const { context, result } = yield* call(() => Effect.succeed(textResult(whole)))
      const text = textOf(result)
      assert.isAtMost(Buffer.byteLength(text), OUTPUT_MAX_BYTES)
      assert.isTrue(text.startsWith("first\nxxx") && text.endsWith("xxx\nlast"))
      const [, missing = ""] = /\[… ([\d,]+) bytes of 1,000,011 bytes left out here/.exec(text) ?? []
      const shown = text.split("\n\n[…")[0]?.length ?? 0
      const end = text.split("…]\n\n")[1]?.length ?? 0
      assert.strictEqual(Number(missing.replaceAll(",", "")) + shown + end, 1_000_011)
      const name = `tool-output/${context.callId}.txt`
      assert.include(text, name)
      assert.notInclude(text, context.root)
      const kept = yield* Effect.promise(() => readFile(join(context.outputDir, `${context.callId}.txt`), "utf8"))
      assert.strictEqual(kept, whole)
    })
  )
  it.scoped("in many parts is cut as one", () =>
    Effect.gen(function* () {
      const content = Array.from(
        { length: 40 },
        (_, index) => ({ type: "text", text: `${index} ${"x".repeat(1_000)}` }) as const
      )
      const { result } = yield* call(() => Effect.succeed({ content, isError: true, details: { code: "x" } }))
      assert.lengthOf(result.content, 1)
      assert.isAtMost(Buffer.byteLength(textOf(result)), OUTPUT_MAX_BYTES)
      assert.deepInclude(result, { isError: true, details: { code: "x" } })
    })
  )
  it.scoped("that cannot be kept is still cut, and says that the rest is lost", () =>
    Effect.gen(function* () {
      const context = { ...(yield* freshContext), outputDir: "/dev/null/none" }
      const tools = yield* Tools
      const result = yield* tools.run(
        tool(() => Effect.succeed(textResult("x".repeat(100_000)))),
        {},
        context
      )
      assert.include(textOf(result), "could not be kept")
    }).pipe(Effect.provide(Tools.layerOf([])))
  )
  it.scoped("with too large an image carries a note in its place", () =>
    Effect.gen(function* () {
      const image = (length: number) => ({ type: "image", mime: "image/png", data: "A".repeat(length) }) as const
      const { result } = yield* call(() =>
        Effect.succeed({ content: [image(400_000), image(400_000), image(4)], isError: false })
      )
      assert.deepStrictEqual(
        result.content.map((part) => part.type),
        ["image", "text", "image"]
      )
    })
  )
  it.scoped("with large details keeps its code", () =>
    Effect.gen(function* () {
      const details = { code: "x", log: "y".repeat(100_000) }
      const { result } = yield* call(() => Effect.succeed({ content: [], isError: true, details }))
      assert.deepStrictEqual(result.details, { code: "x", detailsLeftOut: true })
    })
  )
  const piece = fc.constantFrom("a", "é", "日", "🌍", "\ud83d", "\udf0d", "x".repeat(7_001), "🌍".repeat(4_000))
  it.scoped.prop(
    "is well-formed and small wherever it is cut, and its ends are the model's",
    [fc.array(piece, { maxLength: 30 }), fc.nat(5)],
    ([pieces, shift]) =>
      Effect.gen(function* () {
        const whole = "z".repeat(shift) + pieces.join("")
        const clean = whole.replace(/\p{Surrogate}/gu, "\uFFFD")
        const { result } = yield* call(() =>
          Effect.succeed({
            content: [{ type: "text", text: whole }],
            isError: false,
            details: { text: whole.slice(0, 50) }
          })
        )
        assert.notMatch(JSON.stringify(result), /\\ud[89a-f]/i)
        const text = textOf(result)
        assert.notMatch(text, /\p{Surrogate}/u)
        assert.isAtMost(Buffer.byteLength(text), OUTPUT_MAX_BYTES)
        const [head = "", tail] = text.split(/\n\n\[….*…\]\n\n/)
        assert.isTrue(clean.startsWith(head))
        assert.isTrue(tail === undefined ? clean === text : clean.endsWith(tail))
      })
  )
})
