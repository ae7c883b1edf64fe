import { assert, describe, it } from "@effect/vitest"
import type { PermissionAction, PermissionRule } from "@harness/protocol"
import { Effect, FastCheck as fc } from "effect"
import { fixedPrefix, literal, matches } from "../../src/permissions/glob.ts"
import type { ToolResource } from "../../src/permissions/Resource.ts"
import { GENERAL_RULES, judge } from "../../src/permissions/rules.ts"
import { readShellLine } from "../../src/tools/shellLine.ts"

const rule = (permission: string, pattern: string, action: PermissionAction): PermissionRule => ({
  permission,
  pattern,
  action
})
const reading = (...patterns: ReadonlyArray<string>): ToolResource => ({
  permission: "read",
  patterns,
  title: "",
  detail: "",
  outside: false
})

describe("a glob", () => {
  it("takes everything with a star, slashes and line ends too", () => {
    assert.isTrue(matches("src/*", "src/a/b\nc"))
    assert.isTrue(matches("*", ""))
    assert.isFalse(matches("src/*", "lib/src/a"))
  })
  it("takes any folders or none with two stars and a slash", () => {
    assert.isTrue(matches("src/**/*.ts", "src/a.ts"))
    assert.isTrue(matches("src/**/*.ts", "src/a/b.ts"))
    assert.isTrue(matches("**/.env", ".env"))
    assert.isTrue(matches("**/.env", "a/b/.env"))
    assert.isFalse(matches("**/.env", "a/b.env"))
    assert.isFalse(matches("src/**/x", "srcx"))
  })
  it("takes one character with a question mark, a whole one", () => {
    assert.isTrue(matches("a?c", "a🌍c"))
    assert.isFalse(matches("a?c", "ac"))
  })
  it("takes brackets and braces as they are", () => {
    assert.isTrue(matches("app/[id]/{a,b}", "app/[id]/{a,b}"))
    assert.isFalse(matches("app/[id]", "app/i"))
  })
  it("that is literal fits its own text and no other", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "*", "?", "\\", "/", " ") }),
        fc.string({ unit: fc.constantFrom("a", "*", "?", "\\", "/", " ") }),
        (text, other) => {
          assert.isTrue(matches(literal(text), text))
          assert.strictEqual(matches(literal(text), other), text === other)
        }
      )
    )
  })
  it("fits what a regular expression of the same meaning fits", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "/", "*", "?", "**/"), { maxLength: 8 }),
        fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 8 }),
        (tokens, text) => {
          const glob = tokens.join("")
          const pattern = glob.replace(/(^|\/)\*{2,}\/|\*+|\?/g, (token, before: string | undefined) =>
            before !== undefined ? `${before}(?:[^]*/)?` : token === "?" ? "[^]" : "[^]*"
          )
          // A slash that ends one `**/` and begins the next is read differently by this one-pass translation.
          if (glob.includes("*/*")) return
          assert.strictEqual(matches(glob, text), new RegExp(`^${pattern}$`).test(text), `${glob} ~ ${text}`)
        }
      )
    )
  })
  it("is quick however it is made", () => {
    assert.isFalse(matches(`${"*a".repeat(100)}b`, "a".repeat(20_000)))
  })
  it("has a fixed beginning", () => {
    assert.strictEqual(fixedPrefix("/tmp/*.ts"), "/tmp/")
    assert.strictEqual(fixedPrefix("*"), "")
    assert.strictEqual(fixedPrefix("a\\*b*"), "a*b")
  })
})

describe("judging a resource", () => {
  it("lets the last rule that matches win", () => {
    const rules = [rule("read", "*", "allow"), rule("read", "*.env", "deny"), rule("read", "a.env", "ask")]
    assert.strictEqual(judge(rules, reading("x")), "allow")
    assert.strictEqual(judge(rules, reading("b.env")), "deny")
    assert.strictEqual(judge(rules, reading("a.env")), "ask")
  })
  it("asks when no rule matches, and when there is nothing to match", () => {
    assert.strictEqual(judge([], reading("x")), "ask")
    assert.strictEqual(judge([rule("edit", "*", "allow")], reading("x")), "ask")
    assert.strictEqual(judge([rule("*", "*", "allow")], reading()), "ask")
  })
  it("needs every pattern allowed; one denied denies all", () => {
    const rules = [rule("read", "a", "allow"), rule("read", "c", "deny")]
    assert.strictEqual(judge(rules, reading("a", "b")), "ask")
    assert.strictEqual(judge(rules, reading("a", "b", "c")), "deny")
    assert.strictEqual(judge(rules, reading("a", "a")), "allow")
  })
  it("asks outside the workdir unless a rule names an absolute path", () => {
    const outside = { ...reading("/etc/hosts"), outside: true }
    assert.strictEqual(judge(GENERAL_RULES, outside), "ask")
    assert.strictEqual(judge([rule("*", "*", "allow")], outside), "ask")
    assert.strictEqual(judge([rule("read", "**/hosts", "allow")], outside), "ask")
    assert.strictEqual(judge([rule("read", "/etc/*", "allow")], outside), "allow")
    assert.strictEqual(judge([rule("read", "/etc/*", "allow"), rule("read", "*", "ask")], outside), "ask")
    assert.strictEqual(judge([rule("read", "/etc/*", "allow"), rule("read", "*", "deny")], outside), "deny")
  })
  it("at best asks for what could not be parsed", () => {
    const unparsed = { ...reading("$X"), permission: "shell", unparsed: true }
    assert.strictEqual(judge([rule("shell", "*", "allow")], unparsed), "ask")
    assert.strictEqual(judge([rule("shell", "*", "deny")], unparsed), "deny")
  })
  it("lets general read inside the workdir, and no more", () => {
    assert.strictEqual(judge(GENERAL_RULES, reading("src/a.ts")), "allow")
    assert.strictEqual(judge(GENERAL_RULES, { ...reading("a"), permission: "edit" }), "ask")
    assert.strictEqual(judge(GENERAL_RULES, { ...reading("ls"), permission: "shell" }), "ask")
    assert.strictEqual(judge(GENERAL_RULES, { ...reading("lookup"), permission: "external" }), "allow")
  })
})

describe("an allowed command", () => {
  const verdict = (rules: ReadonlyArray<PermissionRule>, command: string) =>
    Effect.map(readShellLine(command), (line) =>
      judge(rules, { permission: "shell", title: "", detail: command, outside: false, ...line })
    )
  const allowed = [rule("shell", "git status", "allow")]
  const chained = [
    "git status && touch x",
    "git status || touch x",
    "git status; touch x",
    "git status | touch x",
    "git status & touch x",
    "git status\ntouch x",
    "git status $(touch x)",
    "git status `touch x`",
    '  git status "$(touch x)"',
    "env A=1 touch x",
    "A=1 touch x",
    "git status; /usr/bin/touch x",
    "sh -c 'git status; touch x'",
    "trap 'touch x' EXIT; git status",
    "git status <<E\n$(touch x)\nE",
    "git() { touch x; }; git status",
    "t\\ouch x",
    '"tou"ch x',
    "xargs touch x",
    "git status &&\ntouch x &&"
  ]
  for (const command of chained) {
    it.effect(`does not cover ${JSON.stringify(command)}, and a ban inside it holds`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* verdict(allowed, command), "ask")
        const banned = rule("shell", "touch", "deny")
        assert.strictEqual(yield* verdict([...allowed, banned], command), "deny")
        assert.strictEqual(yield* verdict([banned, ...allowed], command), "deny")
        assert.strictEqual(yield* verdict([...allowed, rule("shell", "touch *", "deny")], command), "deny")
      })
    )
  }
  for (const command of [
    "git status",
    "  git status  ",
    "git  status",
    "git status 2>&1",
    "git status; git status",
    "(git status)"
  ]) {
    it.effect(`covers ${JSON.stringify(command)}`, () =>
      Effect.map(verdict(allowed, command), (action) => assert.strictEqual(action, "allow"))
    )
  }
  for (const command of [
    "git status --short",
    "git statusx",
    "'git status'",
    "A=1 git status",
    "env A=1 git status",
    "./git status",
    "git status > x",
    "git status < x",
    "PATH=/tmp; git status",
    "$X; git status",
    "git status; echo x | sh"
  ]) {
    it.effect(`does not cover ${JSON.stringify(command)}`, () =>
      Effect.map(verdict(allowed, command), (action) => assert.strictEqual(action, "ask"))
    )
  }
  it.effect("may be allowed with any arguments, or none", () =>
    Effect.gen(function* () {
      const rules = [rule("shell", "git status *", "allow")]
      assert.strictEqual(yield* verdict(rules, "git status --short"), "allow")
      assert.strictEqual(yield* verdict(rules, "git status"), "allow")
      assert.strictEqual(yield* verdict(rules, "git statusx"), "ask")
      assert.strictEqual(yield* verdict(rules, "git status > x"), "ask")
    })
  )
  it.effect("may be everything that can be parsed", () =>
    Effect.gen(function* () {
      const rules = [rule("shell", "*", "allow")]
      assert.strictEqual(yield* verdict(rules, "trap '' TERM; while :; do sleep 1 >/tmp/x; done"), "allow")
      assert.strictEqual(yield* verdict(rules, "A=1 sh -c 'sleep 300 & (setsid sleep 301 &) ; wait'"), "allow")
      assert.strictEqual(yield* verdict(rules, "$X"), "ask")
    })
  )
  it.effect("may be one in disguise, when a rule says so after a general ban", () =>
    Effect.gen(function* () {
      const rules = [rule("shell", "*", "deny"), rule("shell", "A=1 git status", "allow")]
      assert.strictEqual(yield* verdict(rules, "A=1 git status"), "allow")
      assert.strictEqual(yield* verdict(rules, "git status"), "deny")
      const wrapped = [rule("shell", "env *", "allow"), rule("shell", "touch", "ask")]
      assert.strictEqual(yield* verdict(wrapped, "env A=1 git status"), "allow")
      assert.strictEqual(yield* verdict(wrapped, "env A=1 touch x"), "ask")
    })
  )
})
