import { readdirSync, readFileSync } from "node:fs"
import { chmod, link, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { Effect, Either, Fiber } from "effect"
import { codeOf, get, judge, named, put, textOf, use, within } from "./calls.ts"

describe("write", () => {
  within("makes a file and the folders it needs", (context) =>
    Effect.gen(function* () {
      const claim = yield* judge("write", { path: "./a//b/c.txt", content: "one\ntwo\n" }, context)
      assert.deepInclude(claim, {
        permission: "edit",
        patterns: ["a/b/c.txt"],
        title: "Create a/b/c.txt",
        detail: "--- /dev/null\n+++ a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        outside: false
      })
      const result = yield* use("write", { path: "a/b/c.txt", content: "one\ntwo\n" }, context)
      assert.isFalse(result.isError)
      assert.deepInclude(result.details, { path: "a/b/c.txt", bytes: 8, created: true })
      assert.strictEqual(yield* get(context, "a/b/c.txt"), "one\ntwo\n")
    })
  )
  within("takes the place of a file, keeps its mode, and shows what changes", (context) =>
    Effect.gen(function* () {
      yield* put(context, "run.sh", "echo a\necho b\n")
      yield* Effect.promise(() => chmod(join(context.workdir, "run.sh"), 0o750))
      const args = { path: "run.sh", content: "echo a\necho c\n" }
      const diff = "--- run.sh\n+++ run.sh\n@@ -1,2 +1,2 @@\n echo a\n-echo b\n+echo c\n"
      assert.deepInclude(yield* judge("write", args, context), { title: "Replace run.sh", detail: diff })
      const result = yield* use("write", args, context)
      assert.deepInclude(result.details, { created: false, diff })
      assert.strictEqual(yield* get(context, "run.sh"), "echo a\necho c\n")
      const { mode } = yield* Effect.promise(() => stat(join(context.workdir, "run.sh")))
      assert.strictEqual(mode & 0o777, 0o750)
      assert.deepStrictEqual(readdirSync(context.workdir), ["run.sh"])
    })
  )
  within("writes nothing when there is nothing to write", (context) =>
    Effect.gen(function* () {
      yield* put(context, "x", "same")
      const before = yield* Effect.promise(() => stat(join(context.workdir, "x")))
      const result = yield* use("write", { path: "x", content: "same" }, context)
      assert.isFalse(result.isError)
      const after = yield* Effect.promise(() => stat(join(context.workdir, "x")))
      assert.strictEqual(after.ino, before.ino)
    })
  )
  within("is seen whole or not at all", (context) =>
    Effect.gen(function* () {
      const [one, other] = ["a".repeat(150_000), "b".repeat(150_000)]
      yield* put(context, "x", one)
      const writing = yield* Effect.fork(
        Effect.forEach(Array.from({ length: 12 }), (_, index) =>
          use("write", { path: "x", content: index % 2 === 0 ? other : one }, context)
        )
      )
      let seen = 0
      while (writing.unsafePoll() === null) {
        const text = readFileSync(join(context.workdir, "x"), "utf8")
        assert.isTrue(text === one || text === other)
        seen += 1
        yield* Effect.promise(() => stat(context.workdir))
      }
      assert.isAbove(seen, 1)
      assert.isTrue((yield* Fiber.join(writing)).every(({ isError }) => !isError))
    })
  )
  within("replaces bytes that are no text without showing them", (context) =>
    Effect.gen(function* () {
      yield* put(context, "x.bin", Buffer.from([0, 1, 2, 0xff]))
      const claim = yield* judge("write", { path: "x.bin", content: "text" }, context)
      assert.include(claim.detail, "(4 bytes, not shown)")
      assert.include(claim.detail, "+text")
      const result = yield* use("write", { path: "x.bin", content: "text" }, context)
      assert.isUndefined(result.details?.["diff"])
      assert.strictEqual(yield* get(context, "x.bin"), "text")
    })
  )
  within("says what cannot be written", (context) =>
    Effect.gen(function* () {
      yield* put(context, "file", "x")
      yield* use("shell", { command: "mkdir folder && mkfifo pipe && echo x > locked" }, context)
      const code = (path: string) => Effect.map(use("write", { path, content: "y" }, context), codeOf)
      assert.strictEqual(yield* code("folder"), "write.is_folder")
      assert.strictEqual(yield* code("."), "write.is_folder")
      assert.strictEqual(yield* code("new/"), "write.is_folder")
      assert.strictEqual(yield* code("pipe"), "path.not_file")
      assert.strictEqual(yield* code("file/x"), "path.not_folder")
      assert.strictEqual(yield* code("a\0b"), "path.invalid")
      assert.strictEqual(yield* code("n".repeat(300)), "path.invalid")
      assert.strictEqual(yield* code("/dev/null"), "path.not_file")
      assert.deepInclude(yield* judge("write", { path: "folder", content: "" }, context), {
        foreseen: yield* use("write", { path: "folder", content: "" }, context)
      })
      assert.notInclude(readdirSync(context.workdir), "new")
    })
  )
  within("of a large file shows a person the ends of it", (context) =>
    Effect.gen(function* () {
      const content = `first\n${"line\n".repeat(200_000)}last\n`
      const { detail } = yield* judge("write", { path: "x", content }, context)
      assert.isAtMost(Buffer.byteLength(JSON.stringify(detail)), 262_144)
      assert.include(detail, "+first\n")
      assert.include(detail, "+last\n")
      assert.match(detail, /\[… \d+ bytes left out …\]/)
      const result = yield* use("write", { path: "x", content }, context)
      assert.isAtMost(Buffer.byteLength(JSON.stringify(result.details)), 65_536)
      assert.include(String(result.details?.["diff"]), "+last\n")
    })
  )
  within("of text that is new altogether does not take long to compare", (context) =>
    Effect.gen(function* () {
      const lines = (seed: string) => Array.from({ length: 20_000 }, (_, index) => `${seed} ${index}`).join("\n")
      yield* put(context, "x", lines("old"))
      const { detail } = yield* judge("write", { path: "x", content: lines("new") }, context)
      assert.include(detail, "-old 0\n")
      assert.include(detail, "+new 19999")
    })
  )
})

describe("outside the workdir", () => {
  within("nothing is written, or even looked at, unless that was judged", (context) =>
    Effect.gen(function* () {
      const base = dirname(context.root)
      const secret = join(base, "secret")
      yield* Effect.promise(async () => {
        await writeFile(secret, "canary")
        await symlink(secret, join(context.workdir, "l"))
        await symlink(base, join(context.workdir, "up"))
        await symlink(join(base, "none"), join(context.workdir, "dangling"))
        await link(secret, join(context.workdir, "hard"))
      })
      for (const path of [secret, "../../secret", "l", "up/secret", "dangling", "up/new/file", "hard"]) {
        const { tool, tools } = yield* named("write")
        const claim = yield* tool.resource({ path, content: "x" }, context)
        assert.isTrue(claim.outside, path)
        assert.notInclude(claim.detail, "canary")
        assert.strictEqual(codeOf(yield* tools.run(tool, { path, content: "x" }, context)), "path.changed")
        const edit = { path, find: "canary", replace: "x" }
        const { tool: editTool } = yield* named("edit")
        const editClaim = yield* editTool.resource(edit, context)
        assert.isTrue(editClaim.outside)
        assert.isUndefined(editClaim.foreseen)
        assert.strictEqual(codeOf(yield* tools.run(editTool, edit, context)), "path.changed")
      }
      assert.strictEqual(yield* Effect.promise(() => readFile(secret, "utf8")), "canary")
      assert.notIncludeMembers(readdirSync(base), ["none", "new"])
    })
  )
  within("a hard link is parted from its other name, which keeps its content", (context) =>
    Effect.gen(function* () {
      const secret = join(dirname(context.root), "secret")
      yield* Effect.promise(() => writeFile(secret, "old").then(() => link(secret, join(context.workdir, "hard"))))
      assert.isFalse((yield* use("write", { path: "hard", content: "new" }, context)).isError)
      assert.strictEqual(yield* Effect.promise(() => readFile(secret, "utf8")), "old")
      assert.strictEqual(yield* get(context, "hard"), "new")
    })
  )
  within("nothing is written through a link put there after it was judged", (context) =>
    Effect.gen(function* () {
      const base = dirname(context.root)
      yield* Effect.promise(() => mkdir(join(base, "elsewhere")))
      yield* put(context, "sub/file", "inside")
      const { tool, tools } = yield* named("write")
      const args = { path: "sub/file", content: "x" }
      const judged = yield* tool.resource(args, context)
      yield* Effect.promise(async () => {
        await rename(join(context.workdir, "sub"), join(context.workdir, "old"))
        await symlink("../../elsewhere", join(context.workdir, "sub"))
      })
      assert.strictEqual(codeOf(yield* tools.run(tool, args, { ...context, judged })), "path.changed")
      yield* Effect.promise(async () => {
        await rm(join(context.workdir, "sub"))
        await mkdir(join(context.workdir, "sub"))
        await symlink("../../../elsewhere/file", join(context.workdir, "sub", "file"))
      })
      assert.strictEqual(codeOf(yield* tools.run(tool, args, { ...context, judged })), "path.changed")
      assert.deepStrictEqual(readdirSync(join(base, "elsewhere")), [])
    })
  )
  within("nothing lands while a folder and a link to the outside change places", (context) =>
    Effect.gen(function* () {
      const base = dirname(context.root)
      const sub = join(context.workdir, "sub")
      yield* Effect.promise(() => mkdir(join(base, "elsewhere")))
      const swap = (make: () => Promise<unknown>) =>
        Effect.tryPromise(() => rm(sub, { recursive: true, force: true }).then(make)).pipe(Effect.ignore)
      const swapping = yield* Effect.fork(
        Effect.forever(
          swap(() => mkdir(sub)).pipe(
            Effect.zipRight(Effect.sleep("3 millis")),
            Effect.zipRight(swap(() => symlink(join(base, "elsewhere"), sub))),
            Effect.zipRight(Effect.sleep("1 millis"))
          )
        )
      )
      const { tool, tools } = yield* named("write")
      const args = (index: number) => ({ path: `sub/f${index}/g`, content: "x" })
      let [written, refused] = [0, 0]
      for (let index = 0; written < 8 || refused < 8 || index < 50; index += 1) {
        const claim = yield* Effect.either(tool.resource(args(index), context))
        if (Either.isLeft(claim) || claim.right.outside) {
          refused += 1
          continue
        }
        const result = yield* tools.run(tool, args(index), { ...context, judged: claim.right })
        if (result.isError) refused += 1
        else written += 1
        assert.deepStrictEqual(readdirSync(join(base, "elsewhere")), [])
      }
      yield* Fiber.interrupt(swapping)
    })
  )
  within("no message names the way there", (context) =>
    Effect.gen(function* () {
      for (const path of ["../../none/x", "/proc/none/x", "../../../../../root/none/\0"]) {
        assert.notMatch(textOf(yield* use("edit", { path, find: "a", replace: "b" }, context)), /\//)
      }
    })
  )
})
