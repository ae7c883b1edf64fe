import { link, mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Stream, TestClock } from "effect"
import { Tools } from "../../src/tools/Tools.ts"
import { Finder } from "../../src/workspace/Finder.ts"
import { findRipgrep } from "../../src/workspace/finder/ripgrep.ts"
import { Jobs } from "../../src/workspace/Jobs.ts"
import { Shell } from "../../src/workspace/Shell.ts"
import { isRunning } from "../workspace/processes.ts"
import { codeOf, judge, named, over, put, textOf, use } from "./calls.ts"
import { freshContext } from "./context.ts"

const ripgrep = Option.getOrUndefined(await Effect.runPromise(findRipgrep(process.env["PATH"] ?? "")))

const toolsOver = (finder: Layer.Layer<Finder>) =>
  Layer.provide(Tools.layerNoDeps, Layer.mergeAll(Shell.layer, Jobs.layer, finder))

const engines: ReadonlyArray<readonly [string, Layer.Layer<Tools>]> = [
  ["our own finder", toolsOver(Finder.layerOwn)],
  ...(ripgrep === undefined ? [] : [["ripgrep", toolsOver(Finder.layerRipgrep(ripgrep))] as const])
]

for (const [engine, layer] of engines) {
  const within = over(layer)

  describe(`glob, over ${engine}`, () => {
    within("names files so that read takes them", (context) =>
      Effect.gen(function* () {
        for (const name of ["src/a.ts", "src/b/c.ts", "src/b/d.js", "e.ts", ".github/w.yml", "out/f.ts"]) {
          yield* put(context, name, name)
        }
        yield* put(context, ".gitignore", "out\n")
        const glob = (pattern: string, path?: string) =>
          Effect.map(use("glob", { pattern, ...(path === undefined ? {} : { path }) }, context), textOf)
        assert.strictEqual(yield* glob("*.ts"), "e.ts\nsrc/a.ts\nsrc/b/c.ts")
        assert.strictEqual(yield* glob("**/*.{js,yml}"), "src/b/d.js")
        assert.strictEqual(yield* glob("**/.github/*.yml"), ".github/w.yml")
        assert.strictEqual(yield* glob("b/*", "src"), "src/b/c.ts\nsrc/b/d.js")
        assert.strictEqual(yield* glob("*", ".github"), ".github/w.yml")
        assert.strictEqual(yield* glob("*", "out"), "out/f.ts")
        assert.strictEqual(yield* glob("*.md"), "[no file fits]")
        assert.strictEqual(textOf(yield* use("read", { path: "src/b/c.ts" }, context)), "src/b/c.ts")
        assert.deepInclude(yield* judge("glob", { pattern: "*", path: "src/../src/b" }, context), {
          permission: "read",
          patterns: ["src/b"],
          outside: false
        })
      })
    )
    within("is bounded, and says what is left out", (context) =>
      Effect.gen(function* () {
        yield* use("shell", { command: "seq -f %05.0f 1 2500 | xargs touch" }, context)
        const result = yield* use("glob", { pattern: "*" }, context)
        const lines = textOf(result).split("\n")
        assert.lengthOf(lines, 1_001)
        assert.strictEqual(lines[0], "00001")
        assert.strictEqual(lines.at(-1), "[… 1500 more left out; a narrower pattern or path shows them …]")
        assert.deepStrictEqual(result.details, { files: 1_000, leftOut: 1_500 })
      })
    )
    within("says what it cannot look at", (context) =>
      Effect.gen(function* () {
        yield* put(context, "file", "")
        const code = (pattern: string, path: string) => Effect.map(use("glob", { pattern, path }, context), codeOf)
        assert.strictEqual(yield* code("[z-a]", "."), "glob.invalid_pattern")
        assert.strictEqual(yield* code("*", "none"), "path.not_found")
        assert.strictEqual(yield* code("*", "file"), "glob.not_folder")
        assert.strictEqual(yield* code("*", "a\0"), "path.invalid")
      })
    )
  })

  describe(`search, over ${engine}`, () => {
    within("finds lines in all files, in some, in one", (context) =>
      Effect.gen(function* () {
        yield* put(context, "src/a.ts", "const needle = 1\nno\n  needle()\n")
        yield* put(context, "src/b.md", "a needle\n")
        yield* put(context, "c\nd", "needle")
        yield* put(context, "out/x", "needle")
        yield* put(context, ".ignore", "out\n")
        const search = (args: { pattern: string; path?: string; glob?: string }) => use("search", args, context)
        const all = yield* search({ pattern: "needle\\b" })
        assert.strictEqual(
          textOf(all),
          '"c\\nd":1: needle\nsrc/a.ts:1: const needle = 1\nsrc/a.ts:3:   needle()\nsrc/b.md:1: a needle'
        )
        assert.deepStrictEqual(all.details, { lines: 4, files: 3, leftOut: 0, complete: true })
        assert.strictEqual(textOf(yield* search({ pattern: "needle", glob: "*.md" })), "src/b.md:1: a needle")
        assert.strictEqual(
          textOf(yield* search({ pattern: "needle", path: "src", glob: "b*" })),
          "src/b.md:1: a needle"
        )
        assert.strictEqual(textOf(yield* search({ pattern: "^no$", path: "src/a.ts" })), "src/a.ts:2: no")
        assert.strictEqual(textOf(yield* search({ pattern: "x", path: "out/x" })), "[no line fits]")
        assert.strictEqual(textOf(yield* search({ pattern: "needle", path: "out/x" })), "out/x:1: needle")
      })
    )
    within("is bounded, and says what is left out", (context) =>
      Effect.gen(function* () {
        for (let file = 0; file < 12; file += 1) yield* put(context, `f${file}`, "a line that fits\n".repeat(900))
        const result = yield* use("search", { pattern: "fits" }, context)
        const lines = textOf(result).split("\n")
        assert.lengthOf(lines, 401)
        assert.match(lines.at(-1) ?? "", /^\[… at least \d+ more lines left out/)
        assert.deepInclude(result.details, { complete: false })
        const long = yield* use("search", { pattern: "fits", path: "f0" }, context)
        assert.deepInclude(long.details, { lines: 900, leftOut: 500, complete: true })
        assert.isAtMost(Buffer.byteLength(textOf(long)), 25_000)
      })
    )
    within("tells what is wrong with a pattern", (context) =>
      Effect.gen(function* () {
        yield* put(context, "a", "x")
        const result = yield* use("search", { pattern: "(x" }, context)
        assert.strictEqual(codeOf(result), "search.invalid_pattern")
        assert.isTrue(result.isError)
        assert.strictEqual(
          codeOf(yield* use("search", { pattern: "x", glob: "[z-a]" }, context)),
          "glob.invalid_pattern"
        )
        assert.strictEqual(codeOf(yield* use("search", { pattern: "x", path: "none" }, context)), "path.not_found")
      })
    )
    within("shows nothing of what may not be read", (context) =>
      Effect.gen(function* () {
        yield* put(context, "open", "needle")
        yield* put(context, "secrets/key", "needle canary")
        const readable = (pattern: string) => !pattern.startsWith("secrets/")
        const text = textOf(yield* use("search", { pattern: "needle" }, { ...context, readable }))
        assert.include(text, "open:1: needle")
        assert.notInclude(text, "canary")
        assert.include(text, "do not let them be read: 1")
      })
    )
    within("shows nothing from outside the workdir", (context) =>
      Effect.gen(function* () {
        const base = dirname(context.root)
        yield* put(context, "in", "needle")
        yield* Effect.promise(async () => {
          await mkdir(join(base, "elsewhere"))
          await writeFile(join(base, "elsewhere", "secret"), "needle canary")
          await symlink(join(base, "elsewhere"), join(context.workdir, "folder"))
          await symlink(join(base, "elsewhere", "secret"), join(context.workdir, "file"))
          await link(join(base, "elsewhere", "secret"), join(context.workdir, "hard"))
        })
        assert.strictEqual(textOf(yield* use("search", { pattern: "needle" }, context)), "in:1: needle")
        assert.strictEqual(textOf(yield* use("glob", { pattern: "*" }, context)), "hard\nin")
        for (const path of ["folder", "file", "hard", join(base, "elsewhere"), "../../elsewhere"]) {
          const { tool, tools } = yield* named("search")
          const args = { pattern: "needle", path }
          const claim = yield* tool.resource(args, context)
          assert.isTrue(claim.outside, path)
          assert.strictEqual(codeOf(yield* tools.run(tool, args, context)), "path.changed")
          const allowed = textOf(yield* tools.run(tool, args, { ...context, judged: claim }))
          assert.include(allowed, "canary", path)
        }
      })
    )
    within("shows nothing through a folder that became a link after it was judged", (context) =>
      Effect.gen(function* () {
        const base = dirname(context.root)
        yield* put(context, "sub/in", "needle")
        yield* Effect.promise(() => mkdir(join(base, "elsewhere")))
        yield* Effect.promise(() => writeFile(join(base, "elsewhere", "secret"), "needle canary"))
        const { tool, tools } = yield* named("search")
        const args = { pattern: "needle", path: "sub" }
        const judged = yield* tool.resource(args, context)
        yield* Effect.promise(async () => {
          await rename(join(context.workdir, "sub"), join(context.workdir, "old"))
          await symlink(join(base, "elsewhere"), join(context.workdir, "sub"))
        })
        assert.strictEqual(codeOf(yield* tools.run(tool, args, { ...context, judged })), "path.changed")
      })
    )
  })
}

describe("a search that takes too long", () => {
  it.scoped("ends, and tells what it found by then", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const slow: Finder["Type"] = {
        name: "own",
        files: () => Effect.succeed({ names: ["a", "b"], more: false }),
        lines: () =>
          Stream.concat(
            Stream.make({ file: "a", lines: [{ line: 1, text: "needle" }] }),
            Stream.fromEffect(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never))
          )
      }
      const result = yield* Effect.gen(function* () {
        const context = yield* freshContext
        yield* put(context, "a", "needle")
        const fiber = yield* Effect.fork(use("search", { pattern: "needle" }, context))
        yield* Deferred.await(begun)
        yield* TestClock.adjust("30 seconds")
        return yield* Fiber.join(fiber)
      }).pipe(Effect.provide(toolsOver(Layer.succeed(Finder, slow))))
      assert.strictEqual(textOf(result), "a:1: needle\n[… stopped after 30 s; not everything was looked through …]")
      assert.deepInclude(result.details, { complete: false })
    })
  )
  it.scopedLive("leaves no ripgrep running when it is interrupted", () =>
    Effect.gen(function* () {
      const context = yield* freshContext
      // An `rg` that never ends, and tells who it is.
      const program = join(context.root, "rg")
      const told = join(context.root, "pid")
      yield* Effect.promise(() => writeFile(program, `#!/bin/sh\necho $$ > ${told}\nexec sleep 300\n`, { mode: 0o755 }))
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.fork(use("glob", { pattern: "*" }, context))
        const pid = yield* Effect.tryPromise(() => readFile(told, "utf8")).pipe(
          Effect.map(Number),
          Effect.filterOrFail((pid) => pid > 0),
          Effect.eventually
        )
        assert.isTrue(isRunning(pid))
        yield* Fiber.interrupt(fiber)
        assert.isFalse(isRunning(pid))
      }).pipe(Effect.provide(toolsOver(Finder.layerRipgrep(program))))
    })
  )
})
