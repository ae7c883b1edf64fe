import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { COUNT_MAX, type Edited, editText } from "../../src/tools/editText.ts"
import { codeOf, get, judge, named, put, textOf, use, within } from "./calls.ts"

describe("an edit of a text", () => {
  // Few letters, so that most texts hold what is looked for, often more than once and overlapping.
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", "😀"), maxLength: 40 })
  const part = fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", "😀"), minLength: 1, maxLength: 3 })

  const placesOf = (whole: string, find: string): number => {
    let places = 0
    for (let at = 0; at < whole.length; at += 1) if (whole.startsWith(find, at)) places += 1
    return places
  }

  it("is what a string's own replace makes of it, exactly where it is unique", () => {
    fc.assert(
      fc.property(text, part, text, fc.boolean(), fc.boolean(), (body, find, replace, all, marked) => {
        const bom = marked ? "\uFEFF" : ""
        const edited = editText(bom + body, { find, replace, all })
        const places = placesOf(body, find)
        if (find === replace) assert.strictEqual(edited._tag, "NoChange")
        else if (places === 0) assert.strictEqual(edited._tag, "NotFound")
        else if (all) {
          const expected: Edited = {
            _tag: "Edited",
            text: bom + body.replaceAll(find, () => replace),
            places: body.split(find).length - 1
          }
          assert.deepEqual(edited, expected)
        } else if (places > 1) assert.deepInclude(edited, { _tag: "NotUnique", count: places })
        else assert.deepEqual(edited, { _tag: "Edited", text: bom + body.replace(find, () => replace), places: 1 })
      }),
      { numRuns: 3_000 }
    )
  })
  it("keeps CR LF where every line has it, as if the file had been edited with LF", () => {
    fc.assert(
      fc.property(text, part, text, fc.boolean(), (body, find, replace, all) => {
        fc.pre(body.includes("\n"))
        const toCrlf = (lf: string) => lf.replaceAll("\n", "\r\n")
        const plain = editText(body, { find, replace, all })
        const windows = editText(toCrlf(body), { find, replace, all })
        assert.deepEqual(windows, plain._tag === "Edited" ? { ...plain, text: toCrlf(plain.text) } : plain)
        assert.deepEqual(editText(toCrlf(body), { find: toCrlf(find), replace: toCrlf(replace), all }), windows)
      }),
      { numRuns: 1_000 }
    )
  })
  it("leaves the other lines of a mixed file alone", () => {
    const edited = editText("a\r\nb\nc\r\n", { find: "b", replace: "x\ny", all: false })
    assert.deepEqual(edited, { _tag: "Edited", text: "a\r\nx\ny\nc\r\n", places: 1 })
  })
  it("stops counting, and stops growing", () => {
    const many = editText("a".repeat(1_000_000), { find: "aa", replace: "b", all: false })
    assert.deepInclude(many, { _tag: "NotUnique", count: COUNT_MAX })
    const huge = editText("a".repeat(1_000_000), { find: "a", replace: "b".repeat(1_000), all: true })
    assert.strictEqual(huge._tag, "TooLarge")
  })
})

describe("edit", () => {
  within("replaces one text, and shows the difference", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a.ts", "one\ntwo\nthree\n")
      const args = { path: "./a.ts", find: "two", replace: "2" }
      const diff = "--- a.ts\n+++ a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
      assert.deepInclude(yield* judge("edit", args, context), {
        permission: "edit",
        patterns: ["a.ts"],
        detail: diff,
        outside: false
      })
      const result = yield* use("edit", args, context)
      assert.deepStrictEqual(result.details, { path: "a.ts", places: 1, diff })
      assert.strictEqual(textOf(result), `Edited a.ts at one place.\n\n${diff}`)
      assert.strictEqual(yield* get(context, "a.ts"), "one\n2\nthree\n")
    })
  )
  within("takes what is replaced as it is written", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a", "x $1 (.*) y")
      yield* use("edit", { path: "a", find: "$1 (.*)", replace: "$& $$ \\1" }, context)
      assert.strictEqual(yield* get(context, "a"), "x $& $$ \\1 y")
    })
  )
  within("keeps a byte order mark and the ends of lines", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a", "\uFEFFone\r\ntwo\r\n")
      const result = yield* use("edit", { path: "a", find: "one\ntwo", replace: "1\n1.5\n2" }, context)
      assert.isFalse(result.isError)
      assert.strictEqual(yield* get(context, "a"), "\uFEFF1\r\n1.5\r\n2\r\n")
    })
  )
  within("says how often a text is there when it is not once", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a", "x\ny\nx\n\nx")
      const many = yield* use("edit", { path: "a", find: "x", replace: "z" }, context)
      assert.deepStrictEqual(many.details, { code: "edit.not_unique", count: 3, lines: [1, 3, 5] })
      const none = yield* use("edit", { path: "a", find: "q", replace: "z" }, context)
      assert.deepStrictEqual(none.details, { code: "edit.not_found", count: 0 })
      assert.strictEqual(yield* get(context, "a"), "x\ny\nx\n\nx")
      assert.strictEqual(
        (yield* use("edit", { path: "a", find: "x", replace: "z", all: true }, context)).details?.["places"],
        3
      )
      assert.strictEqual(yield* get(context, "a"), "z\ny\nz\n\nz")
    })
  )
  within("foresees an error, so that nobody is asked for nothing", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a", "x")
      yield* put(context, "b", Buffer.from([0x61, 0xff]))
      yield* put(context, "c", "a\0b")
      for (const [args, code] of [
        [{ path: "a", find: "q", replace: "z" }, "edit.not_found"],
        [{ path: "a", find: "x", replace: "x" }, "edit.no_change"],
        [{ path: "none", find: "x", replace: "z" }, "path.not_found"],
        [{ path: ".", find: "x", replace: "z" }, "path.not_file"],
        [{ path: "b", find: "a", replace: "z" }, "edit.not_text"],
        [{ path: "c", find: "a", replace: "z" }, "edit.not_text"]
      ] as const) {
        const result = yield* use("edit", args, context)
        assert.strictEqual(codeOf(result), code)
        assert.deepStrictEqual((yield* judge("edit", args, context)).foreseen, result)
      }
      assert.strictEqual(
        codeOf(yield* use("edit", { path: "a", find: "", replace: "z" }, context)),
        "tool.arguments_invalid"
      )
    })
  )
  within("of one file at the same time are all made", (context) =>
    Effect.gen(function* () {
      const names = Array.from({ length: 24 }, (_, index) => `<${index}>`)
      yield* put(context, "a", names.join("\n"))
      const results = yield* Effect.forEach(
        names,
        (name, index) =>
          use("edit", { path: index % 2 === 0 ? "a" : "./x/../a", find: name, replace: `done ${index}` }, context),
        { concurrency: "unbounded" }
      )
      assert.isTrue(results.every(({ isError }) => !isError))
      assert.strictEqual(yield* get(context, "a"), names.map((_, index) => `done ${index}`).join("\n"))
    })
  )
  within("works on what is there by then, and on nothing when that no longer fits", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a", "one two")
      const path = join(context.workdir, "a")
      const args = { path: "a", find: "two", replace: "2" }
      const { tool, tools } = yield* named("edit")
      const judged = yield* tool.resource(args, context)
      yield* Effect.promise(() => writeFile(path, "zero one two"))
      assert.isFalse((yield* tools.run(tool, args, { ...context, judged })).isError)
      assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), "zero one 2")
      assert.strictEqual(codeOf(yield* tools.run(tool, args, { ...context, judged })), "edit.not_found")
      yield* Effect.promise(() => rm(path))
      assert.strictEqual(codeOf(yield* tools.run(tool, args, { ...context, judged })), "path.not_found")
    })
  )
})
