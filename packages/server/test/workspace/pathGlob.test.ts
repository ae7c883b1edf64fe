import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import picomatch from "picomatch"
import { compileGlob } from "../../src/workspace/finder/pathGlob.ts"

const matches = (glob: string, path: string): boolean => Either.getOrThrow(compileGlob(glob)).matches(path)

describe("a glob over paths", () => {
  it("knows names, folders, classes and choices", () => {
    const yes: ReadonlyArray<readonly [string, string]> = [
      ["*.ts", "a.ts"],
      ["*.ts", "a/b/c.ts"],
      ["./*.ts", "a.ts"],
      ["src/*.ts", "src/a.ts"],
      ["src/**/*.ts", "src/a.ts"],
      ["src/**/*.ts", "src/a/b.ts"],
      ["src/**", "src/a/b"],
      ["src/", "src/a/b"],
      ["**", "a/b"],
      ["**/test/*.{js,ts}", "x/test/a.ts"],
      ["[a-c]?[!x].md", "bzy.md"],
      ["a\\*b", "a*b"],
      ["{src,test/{a,b}}/*", "test/b/x"],
      ["[", "x/["],
      ["{a", "{a"],
      ["a(b)+.$^|", "a(b)+.$^|"],
      ["é?", "é🌍"],
      [".env*", ".env.local"]
    ]
    const no: ReadonlyArray<readonly [string, string]> = [
      ["./*.ts", "a/b.ts"],
      ["/*.ts", "a/b.ts"],
      ["src/*.ts", "src/a/b.ts"],
      ["src/*.ts", "x/src/a.ts"],
      ["src/**", "src"],
      ["a?b", "a/b"],
      ["a[!x]b", "a/b"],
      ["*.ts", "a.tsx"],
      ["{a,b}", "c"],
      ["A", "a"]
    ]
    for (const [glob, path] of yes) assert.isTrue(matches(glob, path), `${glob} ${path}`)
    for (const [glob, path] of no) assert.isFalse(matches(glob, path), `${glob} ${path}`)
  })
  it("fits what picomatch says it fits", () => {
    const piece = fc.constantFrom("a", "b", "*", "?", "/", "/**/", "[ab]", "[^a]", "{a,b}", "{a/b,*}", "x")
    const glob = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""))
    const path = fc
      .array(fc.string({ unit: fc.constantFrom("a", "b", "x"), minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 4
      })
      .map((names) => names.join("/"))
    fc.assert(
      fc.property(glob, path, (glob, path) => {
        // What they read differently on purpose: empty names, and a glob without a slash, which is about any folder.
        fc.pre(
          !/\/\/|^\/|\/$|^\*\*\/$/.test(glob) &&
            glob.includes("/") &&
            !/\*\*[^/]|[^/]\*\*|[{,]\*|\*[?*]|\?\*/.test(glob)
        )
        assert.strictEqual(matches(glob, path), picomatch.isMatch(path, glob, { dot: true, noextglob: true }))
      }),
      { numRuns: 3_000 }
    )
  })
  it("takes time in proportion", () => {
    assert.isFalse(matches(`${"*a".repeat(100)}b`, "a".repeat(250)))
    assert.isFalse(matches(`${"**/a/".repeat(100)}b`, "a/".repeat(500)))
    assert.isFalse(matches("{a,aa}".repeat(100), `${"a".repeat(300)}`))
  })
  it("looks at what is hidden only when it names that", () => {
    const hidden = (glob: string) => Either.getOrThrow(compileGlob(glob)).hidden
    for (const glob of [".env", "**/.github/*.yml", "{src,.config}/*", "a/\\.b"]) assert.isTrue(hidden(glob), glob)
    for (const glob of ["*", "a.b", "./a", "../a", "*.d.ts", "a/b.c"]) assert.isFalse(hidden(glob), glob)
  })
  it("that cannot be read says so", () => {
    assert.isTrue(Either.isLeft(compileGlob("[z-a]")))
    assert.isTrue(Either.isLeft(compileGlob("x".repeat(2_000))))
  })
})
