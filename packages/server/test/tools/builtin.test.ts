import { readdirSync } from "node:fs"
import { link, mkdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { CallResult, JsonObject } from "@harness/protocol"
import { Deferred, Effect, Either, Fiber, Option } from "effect"
import { OUTPUT_MAX_BYTES } from "../../src/tools/output.ts"
import type { ToolContext } from "../../src/tools/Tool.ts"
import { Tools } from "../../src/tools/Tools.ts"
import { isRunning } from "../workspace/processes.ts"
import { freshContext } from "./context.ts"

const textOf = (result: CallResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("\n")
const codeOf = (result: CallResult) => result.details?.["code"]

const named = (name: string) => Effect.map(Tools, (tools) => ({ tools, tool: Option.getOrThrow(tools.find(name)) }))

/** Checked and run as the loop does it, with what was judged. */
const use = (name: string, args: JsonObject, context: ToolContext) =>
  Effect.gen(function* () {
    const { tool, tools } = yield* named(name)
    const wrong = tools.check(tool, args)
    if (Option.isSome(wrong)) return wrong.value
    const judged = yield* Effect.either(tool.resource(args, context))
    if (Either.isLeft(judged)) return judged.left.result
    return yield* tools.run(tool, args, { ...context, judged: judged.right })
  })

const judge = (name: string, args: JsonObject, context: ToolContext) =>
  Effect.flatMap(named(name), ({ tool }) => tool.resource(args, context))

const within = (name: string, test: (context: ToolContext) => Effect.Effect<void, unknown, Tools>) =>
  it.scopedLive(name, () => Effect.flatMap(freshContext, test).pipe(Effect.provide(Tools.layer)))

const put = (context: ToolContext, name: string, content: string | Uint8Array) =>
  Effect.promise(async () => {
    const path = join(context.workdir, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  })

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")

describe("read", () => {
  within("gives a text file as it is", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a/b.txt", "\uFEFFone\r\ntwo 🌍")
      assert.strictEqual(textOf(yield* use("read", { path: "a/b.txt" }, context)), "\uFEFFone\r\ntwo 🌍")
      assert.deepInclude(yield* judge("read", { path: "./a//b.txt" }, context), {
        permission: "read",
        patterns: ["a/b.txt"],
        outside: false
      })
    })
  )
  within("gives the lines asked for, and says where to go on", (context) =>
    Effect.gen(function* () {
      yield* put(context, "x", Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}`).join("\n"))
      const first = textOf(yield* use("read", { path: "x" }, context))
      assert.isTrue(first.startsWith("line 1\nline 2\n"))
      assert.include(first, "line 2000\n")
      assert.match(first, /go on with offset 2001 …\]$/)
      const middle = textOf(yield* use("read", { path: "x", offset: 10, limit: 2 }, context))
      assert.strictEqual(middle, "line 10\nline 11\n\n[… more follows; go on with offset 12 …]")
      assert.strictEqual(textOf(yield* use("read", { path: "x", offset: 4_999 }, context)), "line 4999\nline 5000")
      const past = yield* use("read", { path: "x", offset: 5_001 }, context)
      assert.strictEqual(codeOf(past), "read.past_end")
      assert.include(textOf(past), "5000 lines")
    })
  )
  within("can be followed to the end of any file, with nothing missing", (context) =>
    Effect.gen(function* () {
      const whole = `${Array.from({ length: 900 }, (_, index) => `${index} ${"é".repeat((index * 7) % 400)}`).join("\n")}\n`
      yield* put(context, "x", whole)
      let read = ""
      let offset: number | undefined = 1
      while (offset !== undefined) {
        const text: string = textOf(yield* use("read", { path: "x", offset }, context))
        assert.isAtMost(Buffer.byteLength(text), OUTPUT_MAX_BYTES)
        const next = /\n\[… more follows; go on with offset (\d+) …\]$/.exec(text)
        read += next === null ? text : text.slice(0, next.index)
        offset = next === null ? undefined : Number(next[1])
      }
      assert.strictEqual(read, whole)
    })
  )
  within("is bounded by a line of 20 MB, and a file of 1 GB", (context) =>
    Effect.gen(function* () {
      yield* put(context, "line", `${"a".repeat(20_000_000)}\nsecond`)
      const text = textOf(yield* use("read", { path: "line" }, context))
      assert.isAtMost(Buffer.byteLength(text), OUTPUT_MAX_BYTES)
      assert.include(text, "the rest of line 1 is left out; go on with offset 2")
      assert.strictEqual(textOf(yield* use("read", { path: "line", offset: 2 }, context)), "second")
      yield* put(context, "big", "text\n".repeat(20_000))
      yield* Effect.promise(() => truncate(join(context.workdir, "big"), 1_000_000_000))
      assert.include(textOf(yield* use("read", { path: "big" }, context)), "go on with offset 2001")
      assert.isAtMost(
        Buffer.byteLength(textOf(yield* use("read", { path: "big", offset: 20_001 }, context))),
        OUTPUT_MAX_BYTES
      )
    })
  )
  within("shows an image, and says no to one that is too large and to other bytes", (context) =>
    Effect.gen(function* () {
      yield* put(context, "a.png", PNG)
      const image = yield* use("read", { path: "a.png" }, context)
      assert.deepStrictEqual(image.content, [{ type: "image", mime: "image/png", data: PNG.toString("base64") }])
      yield* put(context, "b.png", Buffer.concat([PNG, Buffer.alloc(500_000)]))
      assert.strictEqual(codeOf(yield* use("read", { path: "b.png" }, context)), "read.too_large")
      yield* put(context, "c", Buffer.from([1, 2, 0, 3]))
      assert.strictEqual(codeOf(yield* use("read", { path: "c" }, context)), "read.binary")
    })
  )
  within("tells apart what is empty, missing, a folder, a pipe", (context) =>
    Effect.gen(function* () {
      yield* put(context, "empty", "")
      yield* use("shell", { command: "mkfifo pipe" }, context)
      assert.strictEqual(textOf(yield* use("read", { path: "empty" }, context)), "[the file is empty]")
      assert.strictEqual(codeOf(yield* use("read", { path: "none" }, context)), "path.not_found")
      assert.strictEqual(codeOf(yield* use("read", { path: "empty/x" }, context)), "path.not_found")
      assert.strictEqual(codeOf(yield* use("read", { path: "." }, context)), "read.is_folder")
      assert.strictEqual(codeOf(yield* use("read", { path: "pipe" }, context)), "read.not_file")
      assert.strictEqual(codeOf(yield* use("read", { path: "a\0b" }, context)), "path.invalid")
      assert.strictEqual(codeOf(yield* use("read", { path: "x".repeat(300) }, context)), "path.not_found")
      assert.strictEqual(codeOf(yield* use("read", { path: "empty", offset: 0 }, context)), "tool.arguments_invalid")
      assert.strictEqual(codeOf(yield* use("read", { path: "empty", ofset: 1 }, context)), "tool.arguments_invalid")
    })
  )
  within("makes no lone surrogate of a broken file", (context) =>
    Effect.gen(function* () {
      yield* put(context, "x", Buffer.from([0x61, 0xed, 0xa0, 0xbd, 0xf0, 0x9f, 0x62]))
      assert.notMatch(textOf(yield* use("read", { path: "x" }, context)), /\p{Surrogate}/u)
    })
  )
})

describe("outside the workdir", () => {
  const ways: ReadonlyArray<readonly [string, (context: ToolContext, secret: string) => Promise<string>]> = [
    ["by its absolute path", async (_, secret) => secret],
    ["by going up", async () => "../../secret"],
    ["by a link", (context, secret) => symlink(secret, join(context.workdir, "l")).then(() => "l")],
    [
      "by a link to its folder",
      (context, secret) => symlink(dirname(secret), join(context.workdir, "l")).then(() => "l/secret")
    ],
    [
      "by a link to a link",
      async (context) => {
        await symlink("../../secret", join(context.workdir, "a"))
        await symlink("a", join(context.workdir, "b"))
        return "b"
      }
    ],
    ["by another name of the file", (context, secret) => link(secret, join(context.workdir, "l")).then(() => "l")]
  ]
  for (const [way, make] of ways) {
    within(`nothing is read ${way} unless that was judged`, (context) =>
      Effect.gen(function* () {
        const secret = join(dirname(context.root), "secret")
        yield* Effect.promise(() => writeFile(secret, "canary"))
        const path = yield* Effect.promise(() => make(context, secret))
        const { tool, tools } = yield* named("read")
        const resource = yield* tool.resource({ path }, context)
        assert.isTrue(resource.outside)
        assert.strictEqual(codeOf(yield* tools.run(tool, { path }, context)), "path.changed")
        assert.strictEqual(textOf(yield* tools.run(tool, { path }, { ...context, judged: resource })), "canary")
      })
    )
  }
  within("nothing is listed unless that was judged", (context) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => symlink("../..", join(context.workdir, "up")))
      const { tool, tools } = yield* named("list")
      const resource = yield* tool.resource({ path: "up" }, context)
      assert.deepInclude(resource, { outside: true, patterns: [dirname(context.root)] })
      assert.strictEqual(codeOf(yield* tools.run(tool, { path: "up" }, context)), "path.changed")
    })
  )
  within("nothing is read through a link that was changed after it was judged", (context) =>
    Effect.gen(function* () {
      yield* put(context, "sub/file", "inside")
      yield* Effect.promise(() => writeFile(join(dirname(context.root), "file"), "canary"))
      const { tool, tools } = yield* named("read")
      const judged = yield* tool.resource({ path: "sub/file" }, context)
      yield* Effect.promise(async () => {
        await rename(join(context.workdir, "sub"), join(context.workdir, "old"))
        await symlink("../..", join(context.workdir, "sub"))
      })
      const result = yield* tools.run(tool, { path: "sub/file" }, { ...context, judged })
      assert.strictEqual(codeOf(result), "path.changed")
      yield* Effect.promise(async () => {
        await rm(join(context.workdir, "sub"))
        await rename(join(context.workdir, "old"), join(context.workdir, "sub"))
      })
      assert.strictEqual(textOf(yield* tools.run(tool, { path: "sub/file" }, { ...context, judged })), "inside")
    })
  )
  within("no message names the way there", (context) =>
    Effect.gen(function* () {
      for (const path of ["../../none", "/none/at/all", "../../../../../root"]) {
        assert.notMatch(textOf(yield* use("read", { path }, context)), /\//)
      }
    })
  )
})

describe("list", () => {
  within("names what is in a folder, a line each", (context) =>
    Effect.gen(function* () {
      yield* put(context, "b/x", "")
      yield* put(context, ".a", "")
      yield* put(context, "c\nd", "")
      yield* Effect.promise(() => symlink("b", join(context.workdir, "l")))
      assert.strictEqual(textOf(yield* use("list", { path: "." }, context)), '"c\\nd"\n.a\nb/\nl@')
      assert.strictEqual(textOf(yield* use("list", { path: "l" }, context)), "x")
      assert.deepInclude(yield* judge("list", { path: "l" }, context), { permission: "read", patterns: ["b"] })
      assert.strictEqual(codeOf(yield* use("list", { path: ".a" }, context)), "list.not_folder")
      assert.strictEqual(codeOf(yield* use("list", { path: "none" }, context)), "path.not_found")
    })
  )
  within("is bounded in a folder of many files", (context) =>
    Effect.gen(function* () {
      yield* use("shell", { command: "seq 1 1500 | xargs touch" }, context)
      const text = textOf(yield* use("list", { path: "." }, context))
      assert.lengthOf(text.split("\n"), 1_001)
      assert.include(text, "more than 1000 entries")
    })
  )
  within("leaves no file open", (context) =>
    Effect.gen(function* () {
      yield* put(context, "x", "x")
      const open = () => readdirSync("/proc/self/fd").length
      yield* use("list", { path: "." }, context)
      const before = open()
      for (let round = 0; round < 20; round += 1) {
        yield* use("list", { path: "." }, context)
        yield* use("read", { path: "x" }, context)
      }
      assert.isAtMost(open(), before + 2)
    })
  )
})

describe("shell", () => {
  within("runs in the workdir, as itself, under the call's key", (context) =>
    Effect.gen(function* () {
      const result = yield* use(
        "shell",
        { command: "pwd; echo $HARNESS_IDEMPOTENCY_KEY $HARNESS_SESSION_ID $HARNESS_TURN_ID" },
        context
      )
      assert.strictEqual(textOf(result), `${context.workdir}\nkey-1 s1 t1\n`)
      assert.deepInclude(result, { isError: false, details: { exitCode: 0 } })
    })
  )
  within("tells the exit code, the signal, and that there was nothing to tell", (context) =>
    Effect.gen(function* () {
      const failed = yield* use("shell", { command: "echo a; exit 7" }, context)
      assert.deepStrictEqual(failed.details, { code: "shell.exit", exitCode: 7 })
      assert.strictEqual(textOf(failed), "a\n\n[exit code 7]")
      assert.isTrue(failed.isError)
      assert.strictEqual((yield* use("shell", { command: "kill -9 $$" }, context)).details?.["signal"], "SIGKILL")
      assert.strictEqual(textOf(yield* use("shell", { command: "true" }, context)), "[no output]")
    })
  )
  within("ends at its time limit, and keeps what was written", (context) =>
    Effect.gen(function* () {
      const result = yield* use("shell", { command: "echo begun; sleep 300", timeoutMillis: 200 }, context)
      assert.deepInclude(result.details, { code: "tool.timeout", timeoutMillis: 200 })
      assert.include(textOf(result), "begun")
    })
  )
  within("refuses what it cannot judge or do", (context) =>
    Effect.gen(function* () {
      assert.strictEqual(codeOf(yield* use("shell", { command: "echo a\0b" }, context)), "shell.invalid")
      assert.strictEqual(codeOf(yield* use("shell", { command: " \n " }, context)), "shell.invalid")
      assert.strictEqual(codeOf(yield* use("shell", { command: "" }, context)), "tool.arguments_invalid")
      yield* Effect.promise(() => rm(context.workdir, { recursive: true }))
      assert.strictEqual(codeOf(yield* use("shell", { command: "true" }, context)), "path.not_found")
    })
  )
  within("does not run in a workdir that became a link out of the root", (context) =>
    Effect.gen(function* () {
      yield* Effect.promise(async () => {
        await rm(context.workdir, { recursive: true })
        await symlink("/", context.workdir)
      })
      assert.strictEqual(codeOf(yield* use("shell", { command: "pwd" }, context)), "path.changed")
    })
  )
  within("is judged by each of its commands", (context) =>
    Effect.gen(function* () {
      const command = "git status && env A=1 touch x"
      assert.deepInclude(yield* judge("shell", { command }, context), {
        permission: "shell",
        patterns: ["git status", "env A=1 touch x"],
        detail: command,
        outside: false,
        unparsed: false
      })
    })
  )
  const floods: ReadonlyArray<readonly [string, string]> = [
    ["one line", "head -c 20000000 /dev/zero | tr '\\0' a; echo end"],
    ["many lines", "seq 1 3000000 | head -c 20000000; echo end"],
    ["broken characters", "yes 'broken at its end: \u00e9' | head -c 20000000 | tr -d '\\251'; echo end"],
    ["emoji", "yes 🌍 | tr -d '\\n' | head -c 20000000; echo end"]
  ]
  for (const [kind, command] of floods) {
    within(`cuts 20 MB of ${kind} in the middle, and says where the whole is`, (context) =>
      Effect.gen(function* () {
        const result = yield* use("shell", { command }, context)
        const text = textOf(result)
        assert.isFalse(result.isError)
        assert.isAtMost(Buffer.byteLength(text), OUTPUT_MAX_BYTES)
        assert.notMatch(text, /\p{Surrogate}/u)
        assert.isTrue(text.endsWith("end\n"))
        const name = /the whole output is in (\S+) …\]/.exec(text)?.[1] ?? ""
        const { size } = yield* Effect.promise(() => stat(join(context.outputDir, `${context.callId}.txt`)))
        assert.isAbove(size, 9_000_000)
        const again = yield* use("read", { path: name, limit: 3 }, context)
        assert.isFalse(again.isError)
        assert.strictEqual(textOf(again).slice(0, 3), text.slice(0, 3))
      })
    )
  }
  within("shows no binary output, but keeps it", (context) =>
    Effect.gen(function* () {
      const result = yield* use("shell", { command: "head -c 20000000 /dev/zero" }, context)
      assert.match(textOf(result), /^\[20000000 bytes of binary output, kept in tool-output\/call_\w+\.txt\]$/)
      const kept = yield* Effect.promise(() => readFile(join(context.outputDir, `${context.callId}.txt`)))
      assert.strictEqual(kept.length, 20_000_000)
    })
  )
  within("leaves nothing running when the call is interrupted", (context) =>
    Effect.gen(function* () {
      const pid = yield* Deferred.make<number>()
      const activity: ToolContext["activity"] = ({ output = "" }) =>
        Effect.asVoid(Deferred.succeed(pid, Number(output)))
      const fiber = yield* Effect.fork(use("shell", { command: "echo $$; sleep 300" }, { ...context, activity }))
      const started = yield* Deferred.await(pid)
      yield* Fiber.interrupt(fiber)
      assert.isFalse(isRunning(started))
    })
  )
})
