import { spawnSync } from "node:child_process"
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { readShellLine } from "../../src/tools/shellLine.ts"
import { Shell } from "../../src/workspace/Shell.ts"
import { freshFolder } from "../workspace/folders.ts"

/** The commands `one`, `two` and `three` that a line really runs. */
const commandsRun = (line: string) =>
  Effect.gen(function* () {
    const folder = yield* freshFolder
    const log = join(folder, "log")
    yield* Effect.promise(async () => {
      await mkdir(join(folder, "bin"))
      for (const name of ["one", "two", "three"]) {
        await writeFile(join(folder, "bin", name), `#!/bin/sh\necho ${name} >> ${log}\n`, { mode: 0o755 })
      }
      for (const name of ["sh", "env", "xargs"]) await symlink(`/usr/bin/${name}`, join(folder, "bin", name))
      await writeFile(log, "")
    })
    // In a group of its own: whatever a line turns out to do, all of it ends with the call.
    const shell = yield* Shell
    yield* shell.run({
      command: line,
      cwd: folder,
      variables: { PATH: join(folder, "bin") },
      timeoutMillis: 2_000,
      shown: 1_024,
      most: 1_000_000,
      file: join(folder, "output"),
      live: () => Effect.void
    })
    return yield* Effect.promise(() =>
      readFile(log, "utf8").then((text) => text.split("\n").filter((name) => name !== ""))
    )
  })

const reads = (line: string, patterns: ReadonlyArray<string>) =>
  it.effect(`reads ${JSON.stringify(line)}`, () =>
    Effect.map(readShellLine(line), (read) => {
      assert.deepStrictEqual(read.patterns, patterns)
      assert.isFalse(read.unparsed)
    })
  )

const asks = (line: string, hidden: ReadonlyArray<string> = []) =>
  it.effect(`leaves ${JSON.stringify(line)} to a person`, () =>
    Effect.map(readShellLine(line), (read) => {
      assert.isTrue(read.unparsed)
      assert.isNotEmpty(read.patterns)
      for (const pattern of hidden) {
        assert.include([...read.patterns, ...read.disguises.map((disguise) => disguise.pattern)], pattern)
      }
    })
  )

describe("every command of a line is named", () => {
  reads("git status", ["git status"])
  reads("   git   status  ", ["git status"])
  reads("git status && touch x", ["git status", "touch x"])
  reads("git status || touch x", ["git status", "touch x"])
  reads("git status; touch x", ["git status", "touch x"])
  reads("git status | touch x", ["git status", "touch x"])
  reads("git status & touch x", ["git status", "touch x"])
  reads("git status\ntouch x", ["git status", "touch x"])
  reads("git status\r\ntouch x", ["git status\r", "touch x"])
  reads("git status $(touch x)", ["git status $(touch x)", "touch x"])
  reads('git status "$(touch x)"', ['git status "$(touch x)"', "touch x"])
  reads("git status `touch x`", ["git status `touch x`", "touch x"])
  reads("git status `echo \\`touch x\\``", ["git status `echo \\`touch x\\``", "echo `touch x`", "touch x"])
  reads(`git status "\${X:-$(touch x)}"`, [`git status "\${X:-$(touch x)}"`, "touch x"])
  reads("git status $((1 + $(touch x)))", ["git status $((1 + $(touch x)))", "touch x"])
  reads("(git status; touch x)", ["git status", "touch x"])
  reads("{ git status; touch x; }", ["git status", "touch x"])
  reads("! git status", ["git status"])
  reads("if git status; then touch x; else ls; fi", ["git status", "touch x", "ls"])
  reads("for f in $(ls); do touch x; done", ["ls", "touch x"])
  reads("while :; do sleep 1; done", [":", "sleep 1"])
  reads("case $X in a) touch x;; esac", ["touch x"])
  reads("git() { touch x; }; git status", ["touch x", "git status"])
  reads("cat <<E\n$(touch x)\nE", ["cat", "touch x"])
  reads("cat <<'E'\n$(touch x)\nE", ["cat"])
  reads("git status # && touch x", ["git status"])
  reads("# nothing", ["# nothing"])
  reads("trap '' TERM INT; while true; do sleep 0.1; done", ["trap '' TERM INT", "true", "sleep 0.1"])
  reads("trap 'touch x' EXIT", ["trap 'touch x' EXIT", "touch x"])
  reads("sh -c 'git status; touch x'", ["sh -c 'git status; touch x'", "git status", "touch x"])
  reads("bash -euo pipefail -c 'touch x'", ["bash -euo pipefail -c 'touch x'", "touch x"])
  reads("xargs sh -ec 'touch x'", ["xargs sh -ec 'touch x'", "touch x"])
  reads("sh -c 'sleep 300 & (setsid sleep 301 &) ; wait'", [
    "sh -c 'sleep 300 & (setsid sleep 301 &) ; wait'",
    "sleep 300",
    "setsid sleep 301",
    "wait"
  ])
})

describe("what stands before a command, and what it writes to, is part of it", () => {
  reads("A=1 git status", ["A=1 git status"])
  reads("env A=1 git status", ["env A=1 git status"])
  reads("A=1", ["A=1"])
  reads("PATH=/tmp:$PATH; git status", ["PATH=/tmp:$PATH", "git status"])
  reads("A=$(touch x) git status", ["A=$(touch x) git status", "touch x"])
  reads("git status > x", ["git status", "> x"])
  reads("git status >| x 2>> y < z", ["git status", "> x", ">> y", "< z"])
  reads("> x", ["> x"])
  reads("git status 2>&1 >/dev/null", ["git status"])
  reads("if git status; then ls; fi > x", ["git status", "ls", "> x"])
  reads('git log > "$HOME/x"', ["git log", '> "$HOME/x"'])
})

describe("quotes and backslashes hide nothing", () => {
  reads("g\\it 'status'", ["git status"])
  reads('"git" st"at"us', ["git status"])
  reads("gi\\\nt status", ["git status"])
  reads("'git status'", ["'git status'"])
  reads("rm 'a b'", ["rm 'a b'"])
  reads("rm a b", ["rm a b"])
  reads("rm '*'", ["rm '*'"])
  reads("rm *", ["rm *"])
  reads("echo it\\'s", ["echo 'it'\\''s'"])
})

describe("what a line does not tell is left to a person", () => {
  asks("$X status")
  asks("$(echo touch) x", ["echo touch"])
  asks(`\${X} x`)
  asks("t*ch x")
  asks("{touch,x}")
  asks("eval 'touch x'")
  asks("command eval 'touch x'")
  asks("alias git=touch")
  asks('sh -c "$X"')
  asks('trap "$X" EXIT')
  asks("echo touch x | sh", ["echo touch x"])
  asks("sh -s < x")
  asks("env -i sh <<E\ntouch x\nE")
  asks("env $X x")
  asks("git status &&", ["git status"])
  asks("git status 'unclosed", ["git status unclosed"])
  asks("touch x\necho 'unclosed", ["touch x"])
  asks("cat <(touch x)", ["touch x"])
  asks("cat <<< x")
  asks("git status &> x")
  asks("echo $'it\\'s; touch x #'")
  asks("[[ a || touch x ]]")
  asks("((X=1))")
  asks("f=(touch x)")
  asks("coproc touch x")
  asks("function f { touch x; }", ["touch x"])
  asks("select x in a; do touch x; done", ["touch x"])
  asks(`${"(".repeat(400)}touch x${")".repeat(400)}`)
  asks("x".repeat(70_000))
})

describe("another name for a command is known", () => {
  const disguises = (line: string, pattern: string) =>
    it.effect(`${JSON.stringify(line)} is also ${JSON.stringify(pattern)}`, () =>
      Effect.map(readShellLine(line), (read) => {
        assert.include(
          read.disguises.map((disguise) => disguise.pattern),
          pattern
        )
        assert.notInclude(read.patterns, pattern)
      })
    )
  disguises("A=1 touch x", "touch x")
  disguises("env A=1 touch x", "touch x")
  disguises("env -u B A=1 touch x", "touch x")
  disguises("/bin/touch x", "touch x")
  disguises("timeout -k 1 5 touch x", "touch x")
  disguises("nohup nice -n 5 touch x", "touch x")
  disguises("command /usr/bin/touch x", "touch x")
  disguises("find . -name y -exec touch {} \\;", "touch {} ';'")
  disguises("watch 'touch x'", "touch x")
})

describe("a line that was parsed", () => {
  const { line } = fc.letrec<{ line: string; word: string; command: string }>((tie) => {
    const inner = tie("line")
    const around = (before: string, after: string) => inner.map((text) => before + text + after)
    return {
      word: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom("x", "'y z'", '"q"', "*", "a\\ b", "$A", "#", "{a,b}", "2>&1", "> f"),
        around("$(", ")"),
        around("`", "`"),
        around('"$(', ')"'),
        around("${A:-$(", ")}"),
        around("$(( $(", ") ))")
      ),
      command: fc
        .tuple(
          fc.constantFrom("", "", "", "A=1 ", "! ", "env ", "xargs ", "command ", "exec ", "time "),
          fc.constantFrom("one", "two", "three", "t\\wo", "'one'", 'thr"ee"', ":", "true"),
          fc.array(tie("word"), { maxLength: 2 })
        )
        .map(([before, name, words]) => before + [name, ...words].join(" ")),
      line: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        tie("command"),
        fc
          .tuple(inner, fc.constantFrom(";", " && ", " || ", " | ", " & ", "\n", " \\\n", "\r\n"), inner)
          .map(([left, between, right]) => left + between + right),
        around("(", ")"),
        around("{ ", "; }"),
        around("if ", "; then one; fi"),
        around("for i in x; do ", "; done"),
        around("case x in x) ", ";; esac"),
        // Longer bodies have other names, so that none calls itself.
        inner.map((text) => `f${text.length}() { ${text}; }; f${text.length}`),
        around("one <<E\n$(", ")\nE\n"),
        around("one <<'E'\n$(", ")\nE\n"),
        inner.map((text) => `sh -c '${text.replaceAll("'", "'\\''")}'`),
        inner.map((text) => `trap "${text.replace(/[\\"$`]/g, "\\$&")}" EXIT`)
      )
    }
  })
  const slip = fc.constantFrom(
    "",
    "",
    "",
    "'",
    '"',
    "\\",
    "`",
    "$",
    "(",
    ")",
    ";",
    "\n",
    "#",
    "<<E",
    "$'",
    "&",
    "{",
    "\\\n"
  )
  it.scopedLive.prop(
    "runs no command that was not named",
    [line, slip, fc.nat(60)],
    ([whole, piece, place]) =>
      Effect.gen(function* () {
        const line = whole.slice(0, place) + piece + whole.slice(place)
        const read = yield* readShellLine(line)
        if (read.unparsed) return
        const ran = yield* commandsRun(line)
        const named = [...read.patterns, ...read.disguises.map((disguise) => disguise.pattern)]
        for (const name of ran) {
          assert.isTrue(
            named.some((pattern) => pattern === name || pattern.startsWith(`${name} `)),
            `${JSON.stringify(line)} ran ${name}, named ${JSON.stringify(named)}`
          )
        }
      }).pipe(Effect.provide(Shell.layer)),
    { fastCheck: { numRuns: 30 } }
  )
})

describe("words", () => {
  const fragment = fc.constantFrom(
    "a",
    "b",
    "=",
    "~",
    "/",
    "\\",
    "'",
    '"',
    " ",
    "\t",
    "\\\n",
    "$",
    "#",
    "-",
    "{",
    "}",
    "!",
    ",",
    "é"
  )
  const meant = (script: string) => {
    const { status, stdout } = spawnSync("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] })
    return { status, stdout: stdout.toString() }
  }
  it.effect.prop(
    "mean to us what they mean to sh",
    [fc.array(fragment, { minLength: 1, maxLength: 12 })],
    ([fragments]) =>
      Effect.gen(function* () {
        const line = `printf '%s\\0' a${fragments.join("")}`
        const read = yield* readShellLine(line)
        if (read.unparsed || /[$~{}]/.test(line)) return
        // An escaped backslash before a line end leaves the line end: then there are two commands.
        assert.deepStrictEqual(meant(read.patterns.join("\n")), meant(line), line)
      })
  )
})
