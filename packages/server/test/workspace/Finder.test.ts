import { mkdir, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, type Layer, Option, Stream } from "effect"
import { Finder } from "../../src/workspace/Finder.ts"
import { findRipgrep } from "../../src/workspace/finder/ripgrep.ts"
import { openFolder } from "../../src/workspace/openFolder.ts"
import { freshFolder } from "./folders.ts"

const ripgrep = Option.getOrUndefined(await Effect.runPromise(findRipgrep(process.env["PATH"] ?? "")))

/** Our own, and the machine's ripgrep where there is one. */
const engines: ReadonlyArray<readonly [string, Layer.Layer<Finder>]> = [
  ["our own finder", Finder.layerOwn],
  ...(ripgrep === undefined ? [] : [["ripgrep", Finder.layerRipgrep(ripgrep)] as const])
]

type Tree = Readonly<Record<string, string | Uint8Array>>

const plant = (folder: string, tree: Tree) =>
  Effect.promise(async () => {
    for (const [name, content] of Object.entries(tree)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), content)
    }
  })

const filesIn = (folder: string, hidden = false) =>
  Effect.gen(function* () {
    const finder = yield* Finder
    return (yield* finder.files(yield* openFolder(folder), { hidden })).names
  }).pipe(Effect.scoped)

const linesIn = (folder: string, pattern: string) =>
  Effect.gen(function* () {
    const finder = yield* Finder
    const open = yield* openFolder(folder)
    const { names } = yield* finder.files(open, { hidden: false })
    return [...(yield* Stream.runCollect(finder.lines(open, names, pattern)))]
  }).pipe(Effect.scoped)

for (const [engine, layer] of engines) {
  const find = (name: string, test: (folder: string) => Effect.Effect<void, unknown, Finder>) =>
    it.scopedLive(name, () => Effect.flatMap(freshFolder, test).pipe(Effect.provide(layer)))

  describe(`${engine}: files`, () => {
    find("are named from the folder, sorted, without what is hidden", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, {
          "b/x": "",
          "a.ts": "",
          "B.ts": "",
          ".hidden": "",
          ".h/y": "",
          ".git/config": "",
          "-": "",
          "b c/é": ""
        })
        assert.deepStrictEqual(yield* filesIn(folder), ["-", "B.ts", "a.ts", "b c/é", "b/x"])
        assert.deepStrictEqual(yield* filesIn(folder, true), ["-", ".h/y", ".hidden", "B.ts", "a.ts", "b c/é", "b/x"])
        assert.deepStrictEqual(yield* filesIn(join(folder, ".h")), ["y"])
      })
    )
    find("that ignore files name are left out, from the folder's parents too, up to the repository", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, {
          ".gitignore": "*.log\n/build\nnode_modules/\n",
          ".ignore": "!keep.log\n",
          "repo/.gitignore": "local\n!b.log\n",
          "a.log": "",
          "keep.log": "",
          "build/x": "",
          "sub/build/x": "",
          "sub/node_modules/m/x": "",
          "repo/local": "",
          "repo/b.log": "",
          "repo/in/c.log": ""
        })
        assert.deepStrictEqual(yield* filesIn(folder), ["keep.log", "repo/b.log", "sub/build/x"])
        assert.deepStrictEqual(yield* filesIn(join(folder, "repo")), ["b.log"])
        assert.deepStrictEqual(yield* filesIn(join(folder, "sub", "node_modules")), ["m/x"])
        yield* plant(folder, { "repo/.git/info/exclude": "excluded\n", "repo/excluded": "" })
        assert.deepStrictEqual(yield* filesIn(join(folder, "repo")), ["b.log", "in/c.log"])
      })
    )
    find("are never found through a link", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, { "outside/x": "canary", "in/y": "" })
        yield* Effect.promise(async () => {
          await symlink("../outside", join(folder, "in", "folder"))
          await symlink("../outside/x", join(folder, "in", "file"))
          await symlink(".", join(folder, "in", "loop"))
        })
        assert.deepStrictEqual(yield* filesIn(join(folder, "in")), ["y"])
        assert.deepStrictEqual(yield* linesIn(join(folder, "in"), "canary"), [])
      })
    )
    find("may be many", (folder) =>
      Effect.gen(function* () {
        const names = Array.from(
          { length: 3_000 },
          (_, index) => `d${index % 7}/file-${String(index).padStart(4, "0")}`
        )
        yield* plant(folder, Object.fromEntries(names.map((name) => [name, `number ${name}\n`])))
        assert.deepStrictEqual(yield* filesIn(folder), [...names].sort())
        const found = yield* linesIn(folder, "-0[0-9]{2}7$")
        assert.deepStrictEqual(
          found.map(({ file }) => file),
          names.filter((name) => /-0\d\d7$/.test(name)).sort()
        )
      })
    )
  })

  describe(`${engine}: lines`, () => {
    find("come with their number and without their end", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, { b: "x\nfoo bar\nx\nfoo", a: "\uFEFFfoo\r\nbar\r\n", c: "no", "-": "foo", "-e": "foo" })
        assert.deepStrictEqual(yield* linesIn(folder, "^(foo|foo bar)$"), [
          { file: "-", lines: [{ line: 1, text: "foo" }] },
          { file: "-e", lines: [{ line: 1, text: "foo" }] },
          { file: "a", lines: [{ line: 1, text: "foo" }] },
          {
            file: "b",
            lines: [
              { line: 2, text: "foo bar" },
              { line: 4, text: "foo" }
            ]
          }
        ])
        assert.lengthOf(yield* linesIn(folder, "(?i)FOO"), 4)
        assert.deepStrictEqual(yield* linesIn(folder, "--files"), [])
      })
    )
    find("of binary files are passed over, those of wide text are not", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, {
          a: Buffer.from("foo\0\n"),
          b: Buffer.concat([Buffer.from(`foo\n${"x\n".repeat(200_000)}`), Buffer.from([0])]),
          c: Buffer.from("\uFEFFfoo\n", "utf16le"),
          d: Buffer.from([0x66, 0x6f, 0x6f, 0xff, 0x0a])
        })
        assert.deepStrictEqual(
          (yield* linesIn(folder, "foo")).map(({ file }) => file),
          ["c", "d"]
        )
      })
    )
    find("that are long are shown around what fits", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, { a: `${"é".repeat(5_000)}needle${"x".repeat(5_000)}\n` })
        const [found] = yield* linesIn(folder, "needle")
        const [line] = found?.lines ?? []
        assert.strictEqual(line?.line, 1)
        assert.isAtMost(line?.text.length ?? 0, 302)
        assert.match(line?.text ?? "", /^…é+needlex+…$/)
      })
    )
    find("of one file are bounded", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, { a: "foo\n".repeat(5_000), b: "foo\n" })
        const counts = (yield* linesIn(folder, "foo")).map(({ lines }) => lines.length)
        assert.deepStrictEqual(counts, [1_000, 1])
      })
    )
    find("of a pattern that cannot be read are an error", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, { a: "foo" })
        for (const pattern of ["(", "[", "a{2,1}", "(?=a)", "a\nb", "a\0b", "\\1"]) {
          const error = yield* Effect.flip(linesIn(folder, pattern))
          assert.deepInclude(error, { code: "search.invalid_pattern" })
        }
      })
    )
    find("are found in time in proportion, whatever the pattern", (folder) =>
      Effect.gen(function* () {
        yield* plant(folder, {
          a: `${"a".repeat(20_000)}b\n`,
          ".gitignore": `${"*a".repeat(30)}*b\n`,
          ["a".repeat(200)]: "x"
        })
        assert.lengthOf(yield* linesIn(folder, "^(a+)+$"), 0)
        assert.lengthOf(yield* linesIn(folder, "(a*)*c"), 0)
      })
    )
  })
}

const name = fc.constantFrom("a", "b", ".c", "d.log", "e.ts", "a ")
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"))
const rule = fc.constantFrom(
  ...["a", "b/", "/a", "*.log", "!d.log", "a/b", "**/e.ts", "!.c", "b/**", "# no", "", "d.*", "/b/*.ts", "!/a"],
  ...[
    "[ab]",
    "[!a]",
    "?",
    "\\a",
    "a ",
    "a\\ ",
    "**",
    "**/a",
    "a/**/e.ts",
    "*/a",
    "{a,d}*",
    "!b/",
    "/**/b",
    "*",
    "!*.ts"
  ]
)
const rules = fc.array(rule, { maxLength: 3 }).map((lines) => lines.join("\n"))
const ignores = fc.array(
  fc.tuple(fc.constantFrom("", "a/", "b/"), fc.constantFrom(".gitignore", ".ignore", ".rgignore"), rules),
  { maxLength: 3 }
)

/** Files in folders: what would be both is a folder. */
const treeOf = (paths: ReadonlyArray<string>, files: ReadonlyArray<readonly [string, string, string]>): Tree => {
  const all = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)))
  const placed = files.filter(([folder]) => folder === "" || all.some((one) => one.startsWith(folder)))
  return Object.fromEntries([
    ...all.map((one) => [one, "x"] as const),
    ...placed.map(([folder, file, text]) => [folder + file, text] as const)
  ])
}

it.scopedLive.prop(
  "both engines find the same files, whatever is ignored",
  [fc.array(path, { minLength: 1, maxLength: 8 }), ignores, fc.boolean()],
  ([paths, files, hidden]) =>
    Effect.gen(function* () {
      const folder = yield* freshFolder
      const tree = treeOf(paths, files)
      yield* plant(folder, tree)
      const found = yield* Effect.forEach(engines, ([, layer]) => Effect.provide(filesIn(folder, hidden), layer))
      for (const names of found) assert.deepStrictEqual(names, found[0])
    }).pipe(Effect.scoped),
  { fastCheck: { numRuns: 60 } }
)

it.live("ripgrep is looked for in whole folders of the search path alone", () =>
  Effect.gen(function* () {
    assert.isTrue(Option.isNone(yield* findRipgrep("")))
    assert.isTrue(Option.isNone(yield* findRipgrep(".:bin:./bin")))
    assert.isTrue(Option.isNone(yield* findRipgrep("/nowhere:/dev")))
  })
)
