import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Option } from "effect"
import { Agents } from "../../src/agents/Agents.ts"
import { FILE_MAX_BYTES, FILES_MAX } from "../../src/agents/folder.ts"

const text = (description: string) => `---\ndescription: ${description}\n---\nPrompt of ${description}.\n`

/** A root with a workdir two folders down, a data folder, and a place outside both. */
const places = Effect.acquireRelease(
  Effect.sync(() => {
    const top = realpathSync(mkdtempSync(join(tmpdir(), "harness-agents-")))
    const at = { top, root: join(top, "root"), data: join(top, "data"), outside: join(top, "outside") }
    const workdir = join(at.root, "a", "b")
    for (const folder of [workdir, at.data, at.outside]) mkdirSync(folder, { recursive: true })
    const put = (folder: string, name: string, content: string | Buffer) => {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, name), content)
    }
    const agents = (folder: string) => join(folder, ".harness", "agents")
    return { ...at, workdir, put, agents, inData: join(at.data, "agents") }
  }),
  ({ top }) => Effect.sync(() => rmSync(top, { recursive: true, force: true }))
)

type Places = Effect.Effect.Success<typeof places>

const withAgents = <A, E>(
  use: (at: Places, agents: typeof Agents.Service, logged: ReadonlyArray<string>) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const at = yield* places
    const logged: Array<string> = []
    const log = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ annotations, message }) => logged.push(`${message} ${JSON.stringify([...annotations])}`))
    )
    return yield* Effect.provide(
      Effect.flatMap(Agents, (agents) => use(at, agents, logged)),
      Agents.layerAt(at)
    ).pipe(Effect.provide(log))
  })

const shown = (agents: ReadonlyArray<{ readonly name: string; readonly description: string }>) =>
  agents.map(({ description, name }) => `${name}: ${description}`)

describe("agents", () => {
  it.scoped("are the built-in ones where there are no files", () =>
    withAgents((at, agents) =>
      Effect.gen(function* () {
        const found = yield* agents.see(at.workdir)
        assert.deepEqual(
          found.agents.map(({ name, source }) => `${name} ${source}`),
          ["explore builtin", "general builtin", "plan builtin"]
        )
        assert.deepEqual(found.problems, [])
        assert.isTrue(Option.isNone(yield* agents.find(at.workdir, "reviewer")))
      })
    )
  )

  it.scoped("of equal names the nearest file wins, then the data folder's, then the built-in", () =>
    withAgents((at, agents) =>
      Effect.gen(function* () {
        at.put(at.inData, "one.md", text("data"))
        at.put(at.inData, "plan.md", text("data"))
        at.put(at.inData, "four.md", text("data"))
        at.put(at.agents(at.root), "one.md", text("root"))
        at.put(at.agents(at.root), "two.md", text("root"))
        at.put(at.agents(join(at.root, "a")), "two.md", text("a"))
        at.put(at.agents(join(at.root, "a")), "three.md", text("a"))
        at.put(at.agents(at.workdir), "three.md", text("b"))
        at.put(at.agents(at.workdir), "general.md", text("b"))
        assert.deepEqual(
          shown((yield* agents.see(at.workdir)).agents).filter((line) => !line.startsWith("explore")),
          ["four: data", "general: b", "one: root", "plan: data", "three: b", "two: a"]
        )
        assert.deepEqual(
          shown(yield* agents.list(at.root)).filter((line) => /^(one|two|three)/.test(line)),
          ["one: root", "two: root"]
        )
        const found = Option.getOrThrow(yield* agents.find(at.workdir, "two"))
        assert.deepInclude(found, { name: "two", prompt: "Prompt of a.", source: "workdir" })
      })
    )
  )

  it.scoped("nothing above the root is looked at", () =>
    withAgents((at, agents) =>
      Effect.gen(function* () {
        at.put(at.agents(at.top), "above.md", text("above"))
        assert.isTrue(Option.isNone(yield* agents.find(at.workdir, "above")))
      })
    )
  )

  it.scoped("one bad file hides nothing: each is named with its path and reason, there and in the log", () =>
    withAgents((at, agents, logged) =>
      Effect.gen(function* () {
        const folder = at.agents(at.workdir)
        at.put(folder, "good.md", text("good"))
        at.put(folder, "yaml.md", "---\ndescription: [\n---\n")
        at.put(folder, "plain.md", "no front matter")
        at.put(folder, "empty.md", "")
        at.put(folder, "bytes.md", Buffer.from([0x2d, 0xff, 0xfe]))
        at.put(folder, "long.md", text("x".repeat(FILE_MAX_BYTES)))
        at.put(folder, "notes.txt", "none of ours")
        at.put(folder, "secret.md", text("secret"))
        chmodSync(join(folder, "secret.md"), 0o000)
        symlinkSync("loop.md", join(folder, "loop.md"))
        symlinkSync("nowhere.md", join(folder, "dangling.md"))
        mkdirSync(join(folder, "folder.md"))
        at.put(at.agents(join(at.root, "a")), "empty.md", text("from above"))
        const { agents: found, problems } = yield* agents.see(at.workdir)
        const reasons = Object.fromEntries(problems.map(({ path, reason }) => [path, reason]))
        const rootUser = process.getuid?.() === 0
        assert.deepEqual(reasons, {
          "a/b/.harness/agents/bytes.md": "is not UTF-8 text",
          "a/b/.harness/agents/dangling.md": "is a link to nothing",
          "a/b/.harness/agents/empty.md": "is empty",
          "a/b/.harness/agents/long.md": "is longer than 262144 bytes",
          "a/b/.harness/agents/loop.md": "is a link that leads round in a circle",
          "a/b/.harness/agents/plain.md": "has no front matter: its first line must be ---",
          "a/b/.harness/agents/yaml.md": reasons["a/b/.harness/agents/yaml.md"] ?? "",
          ...(rootUser ? {} : { "a/b/.harness/agents/secret.md": "cannot be read" })
        })
        assert.match(reasons["a/b/.harness/agents/yaml.md"] ?? "", /not YAML, at line/)
        assert.includeMembers(shown(found), ["good: good", "empty: from above"])
        for (const path of Object.keys(reasons)) assert.isTrue(logged.some((line) => line.includes(path)))
        const before = logged.length
        yield* agents.see(at.workdir)
        assert.lengthOf(logged, before)
        assert.notInclude(logged.join(), at.top)
      })
    )
  )

  it.scoped("links lead anywhere inside the root, and nowhere else", () =>
    withAgents((at, agents) =>
      Effect.gen(function* () {
        const folder = at.agents(at.workdir)
        at.put(at.outside, "evil.md", text("evil"))
        at.put(at.root, "shared.md", text("shared"))
        mkdirSync(folder, { recursive: true })
        symlinkSync(join(at.outside, "evil.md"), join(folder, "evil.md"))
        symlinkSync(join(at.root, "shared.md"), join(folder, "shared.md"))
        mkdirSync(join(at.root, "a", ".harness"))
        symlinkSync(at.outside, at.agents(join(at.root, "a")))
        const found = yield* agents.see(at.workdir)
        assert.deepEqual(found.problems, [
          { path: "a/b/.harness/agents/evil.md", reason: "is a link to outside" },
          { path: "a/.harness/agents", reason: "is a link to outside" }
        ])
        assert.includeMembers(shown(found.agents), ["shared: shared"])
        assert.notInclude(shown(found.agents), "evil: evil")
      })
    )
  )

  it.scoped("a workdir that is gone still has everybody's agents", () =>
    withAgents((at, agents) =>
      Effect.gen(function* () {
        at.put(at.inData, "mine.md", text("data"))
        rmSync(at.workdir, { recursive: true })
        assert.includeMembers(shown(yield* agents.list(at.workdir)), ["mine: data"])
        symlinkSync(at.outside, at.workdir)
        at.put(at.agents(at.outside), "evil.md", text("evil"))
        assert.isTrue(Option.isNone(yield* agents.find(at.workdir, "evil")))
      })
    )
  )

  it.scoped("a changed file is read again, an added one found, a removed one gone", () =>
    withAgents((at, agents) =>
      Effect.gen(function* () {
        const folder = at.agents(at.workdir)
        at.put(folder, "one.md", text("first"))
        assert.include(shown(yield* agents.list(at.workdir)), "one: first")
        at.put(folder, "one.md", text("other"))
        utimesSync(join(folder, "one.md"), 1, 1)
        at.put(folder, "two.md", text("added"))
        assert.includeMembers(shown(yield* agents.list(at.workdir)), ["one: other", "two: added"])
        rmSync(join(folder, "one.md"))
        assert.isTrue(Option.isNone(yield* agents.find(at.workdir, "one")))
      })
    )
  )

  it.scoped("a folder of very many files is read so far, and says so", () =>
    withAgents((at, agents) =>
      Effect.gen(function* () {
        for (let n = 0; n < FILES_MAX + 3; n++) at.put(at.inData, `a${String(n).padStart(3, "0")}.md`, text("many"))
        const { agents: found, problems } = yield* agents.see(at.workdir)
        assert.strictEqual(found.length, FILES_MAX + 3)
        assert.deepEqual(problems, [{ path: "agents", reason: "holds 3 files more than the 100 that are read" }])
      })
    )
  )
})
