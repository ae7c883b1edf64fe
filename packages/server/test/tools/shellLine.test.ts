import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { readShellLine } from "../../src/tools/shellLine.ts"

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
  const meant = (script: string) =>
    Effect.try(() => execFileSync("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] }).toString())
  it.effect.prop(
    "mean to us what they mean to sh",
    [fc.array(fragment, { minLength: 1, maxLength: 12 })],
    ([fragments]) =>
      Effect.gen(function* () {
        const line = `printf '%s\\0' a${fragments.join("")}`
        const read = yield* readShellLine(line)
        if (read.unparsed || /[$~{}]/.test(line)) return
        assert.lengthOf(read.patterns, 1)
        assert.strictEqual(yield* meant(read.patterns[0] ?? ""), yield* meant(line), line)
      })
  )
})
