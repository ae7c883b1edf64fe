import { link, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { openJudged } from "../../src/workspace/openJudged.ts"
import { locate, resolveToolPath, resolveWorkdir } from "../../src/workspace/paths.ts"
import { freshFolder } from "./folders.ts"

/** root/work/{file,sub/file,in→sub,out→../../outside,chain→out,dangling→nowhere,far→/…/missing} and outside/secret. */
const world = Effect.gen(function* () {
  const base = yield* freshFolder
  const root = join(base, "root")
  const work = join(root, "work")
  const outside = join(base, "outside")
  yield* Effect.promise(async () => {
    await mkdir(join(work, "sub"), { recursive: true })
    await mkdir(join(root, "other"))
    await mkdir(join(outside, "deep"), { recursive: true })
    await writeFile(join(work, "file"), "inside")
    await writeFile(join(work, "sub", "file"), "inside too")
    await writeFile(join(outside, "secret"), "canary")
    await symlink("sub", join(work, "in"))
    await symlink("../../outside", join(work, "out"))
    await symlink("out/deep", join(work, "chain"))
    await symlink("nowhere", join(work, "dangling"))
    await symlink(join(outside, "missing"), join(work, "far"))
    await symlink("loop", join(work, "loop"))
    await symlink("../..", join(work, "sub", "up"))
    await symlink(work, join(root, "alias"))
    await symlink(outside, join(root, "escape"))
    await link(join(outside, "secret"), join(work, "hard"))
  })
  return { base, root, work, outside }
})

describe("a session's workdir", () => {
  const resolves = (name: string, wanted: (at: { root: string; base: string }) => object, expected: string) =>
    it.scoped(name, () =>
      Effect.gen(function* () {
        const at = yield* world
        const result = yield* Effect.either(resolveWorkdir(at.root, wanted(at)))
        const said = Either.match(result, {
          onLeft: (error) => {
            assert.notInclude(error.message, at.base)
            return error.code
          },
          onRight: (workdir) => workdir
        })
        assert.strictEqual(said, expected)
      })
    )
  resolves("is the root when none is named", () => ({}), ".")
  resolves("is relative to the root", () => ({ workdir: "work/sub" }), "work/sub")
  resolves("may be absolute inside the root", ({ root }) => ({ workdir: `${root}/work/` }), "work")
  resolves("may come from the client", ({ root }) => ({ clientWorkdir: `${root}/work` }), "work")
  resolves("wins over the client's", ({ root }) => ({ workdir: "other", clientWorkdir: `${root}/work` }), "other")
  resolves("is kept without links", () => ({ workdir: "alias/in" }), "work/sub")
  resolves("goes up and down inside the root", () => ({ workdir: "work/../other/." }), "other")
  resolves("goes up from where a link leads", () => ({ workdir: "work/in/.." }), "work")
  resolves("is refused above the root", () => ({ workdir: ".." }), "workdir.outside_root")
  resolves(
    "is refused above the root by a longer way",
    () => ({ workdir: "work/../../outside" }),
    "workdir.outside_root"
  )
  resolves("is refused beside the root", ({ base }) => ({ workdir: `${base}/outside` }), "workdir.outside_root")
  resolves(
    "is refused beside a root with the same beginning",
    ({ root }) => ({ workdir: `${root}2` }),
    "workdir.outside_root"
  )
  resolves("is refused through a link", () => ({ workdir: "escape" }), "workdir.outside_root")
  resolves("is refused through a link in its middle", () => ({ workdir: "work/out/deep" }), "workdir.outside_root")
  resolves("is refused where a dangling link points outside", () => ({ workdir: "work/far" }), "workdir.outside_root")
  resolves("is refused in a loop of links", () => ({ workdir: "work/loop" }), "workdir.outside_root")
  resolves("is refused with a NUL", () => ({ workdir: "work\0" }), "workdir.outside_root")
  resolves("is refused from a client elsewhere", () => ({ clientWorkdir: "/elsewhere/at/all" }), "workdir.outside_root")
  resolves("is refused from a client of another system", () => ({ clientWorkdir: "C:\\work" }), "workdir.outside_root")
  resolves("must exist", () => ({ workdir: "work/none" }), "workdir.not_found")
  resolves("must be a folder", () => ({ workdir: "work/file" }), "workdir.not_found")
  resolves("must not dangle", () => ({ workdir: "work/dangling" }), "workdir.not_found")
})

describe("a tool's path", () => {
  const leads = (
    input: string | ((at: { outside: string; work: string }) => string),
    expected: string | ((at: { outside: string; root: string; work: string }) => string),
    outside: boolean
  ) =>
    it.scoped(`${typeof input === "string" ? JSON.stringify(input) : input} is ${outside ? "outside" : "inside"}`, () =>
      Effect.gen(function* () {
        const at = yield* world
        const found = yield* resolveToolPath(
          { root: at.root, workdir: at.work },
          typeof input === "string" ? input : input(at)
        )
        assert.deepStrictEqual(
          { outside: found.outside, pattern: found.pattern },
          { outside, pattern: typeof expected === "string" ? expected : expected(at) }
        )
      })
    )
  leads("file", "file", false)
  leads("./sub//file", "sub/file", false)
  leads(".", ".", false)
  leads("in/file", "sub/file", false)
  leads("sub/../file", "file", false)
  leads(({ work }) => `${work}/file`, "file", false)
  leads("none/yet", "none/yet", false)
  leads("dangling", "nowhere", false)
  leads("out/secret", ({ outside }) => `${outside}/secret`, true)
  leads("chain/../secret", ({ outside }) => `${outside}/secret`, true)
  leads("sub/up/other", ({ root }) => `${root}/other`, true)
  leads("../other", ({ root }) => `${root}/other`, true)
  leads("none/../../../outside/secret", ({ outside }) => `${outside}/secret`, true)
  leads("far", ({ outside }) => `${outside}/missing`, true)
  leads(
    ({ outside }) => `${outside}/secret`,
    ({ outside }) => `${outside}/secret`,
    true
  )
  leads("hard", ({ work }) => `${work}/hard`, true)
  leads(`${"../".repeat(100)}etc`, "/etc", true)

  it.scoped("with a NUL, or in a loop, leads nowhere", () =>
    Effect.gen(function* () {
      const at = yield* world
      const where = { root: at.root, workdir: at.work }
      assert.strictEqual((yield* Effect.flip(resolveToolPath(where, "a\0b"))).code, "path.invalid")
      assert.strictEqual((yield* Effect.flip(resolveToolPath(where, "loop/x"))).code, "path.loop")
    })
  )

  it.scoped("leads nowhere once the workdir was swapped for a link out of the root", () =>
    Effect.gen(function* () {
      const at = yield* world
      yield* Effect.promise(() => rename(at.work, `${at.work}-old`).then(() => symlink(at.outside, at.work)))
      const error = yield* Effect.flip(resolveToolPath({ root: at.root, workdir: at.work }, "secret"))
      assert.strictEqual(error.code, "path.changed")
    })
  )
})

describe("what was judged", () => {
  const swapped = (name: string, change: (at: { work: string; outside: string }) => Promise<void>) =>
    it.scoped(`is not opened when ${name}`, () =>
      Effect.gen(function* () {
        const at = yield* world
        const place = yield* locate(at.work, "sub/file")
        yield* Effect.promise(() => change(at))
        const error = yield* Effect.flip(openJudged(place))
        assert.include(["path.changed", "path.loop", "path.not_found"], error.code)
      })
    )
  swapped("a link took its place", async ({ outside, work }) => {
    await rm(join(work, "sub/file"))
    await symlink(join(outside, "secret"), join(work, "sub/file"))
  })
  swapped("a link took the place of its folder", async ({ outside, work }) => {
    await rename(join(work, "sub"), join(work, "sub-old"))
    await writeFile(join(outside, "file"), "canary")
    await symlink(outside, join(work, "sub"))
  })
  swapped("its folder became a link to where it went", async ({ work }) => {
    await rename(join(work, "sub"), join(work, "sub-old"))
    await symlink("sub-old", join(work, "sub"))
  })
  swapped("another file took its place", async ({ outside, work }) => {
    await rename(join(outside, "secret"), join(work, "sub/file"))
  })
  swapped("it is gone", ({ work }) => rm(join(work, "sub/file")))

  it.scoped("is opened when nothing changed", () =>
    Effect.gen(function* () {
      const at = yield* world
      const handle = yield* openJudged(yield* locate(at.work, "in/file"))
      assert.strictEqual((yield* Effect.promise(() => handle.readFile())).toString(), "inside too")
    })
  )
})
