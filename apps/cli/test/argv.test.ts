import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { takeApart } from "../src/argv.ts"
import { understand } from "../src/commandLine.ts"
import { commands } from "../src/commands.ts"

const shapes = commands.find(({ name }) => name === "prompt")?.options ?? []

const taken = (...argv: ReadonlyArray<string>) => Either.getOrThrow(takeApart(argv, shapes))
const refused = (...argv: ReadonlyArray<string>) => {
  const result = takeApart(argv, shapes)
  return Either.isLeft(result) ? result.left.message : JSON.stringify(result.right)
}

describe("a command line is read strictly", () => {
  it("options may stand anywhere, and words stay words", () => {
    assert.deepStrictEqual(taken("hello", "--session", "a", "big", "--json", "world"), {
      options: ["--session", "a", "--json", "true"],
      words: ["hello", "big", "world"]
    })
    assert.deepStrictEqual(taken("--json", "true").words, ["true"])
    assert.deepStrictEqual(taken("-s", "a", "-q", "hi").options, ["--session", "a", "--quiet", "true"])
    assert.deepStrictEqual(taken("-qs", "a").options, ["--quiet", "true", "--session", "a"])
    assert.deepStrictEqual(taken("--title=a=b\n--json", "-").options, ["--title", "a=b\n--json"])
    assert.deepStrictEqual(taken("-").words, ["-"])
    assert.deepStrictEqual(taken("--title=", "x").options, ["--title", ""])
  })

  it("after -- everything is a word", () => {
    assert.deepStrictEqual(taken("--json", "--", "--session", "--", "-x"), {
      options: ["--json", "true"],
      words: ["--session", "--", "-x"]
    })
  })

  it("nothing that looks like an option becomes part of a prompt", () => {
    assert.strictEqual(refused("hello", "--sesion", "x"), "unknown option --sesion")
    assert.strictEqual(refused("-x"), "unknown option -x")
    assert.strictEqual(refused("--session"), "--session needs a value: --session <id>")
    assert.include(refused("--session", "--json"), "--session=--json")
    assert.strictEqual(refused("--json=yes"), "--json takes no value")
    assert.strictEqual(refused("--json", "--json"), "--json is given twice")
    assert.strictEqual(refused("-s", "a", "--session", "b"), "--session is given twice")
  })
})

const request = (...argv: ReadonlyArray<string>) =>
  Effect.runSync(
    understand(argv, commands).pipe(
      Effect.match({
        onFailure: (failure) => `${failure.exitCode}: ${failure.message}${failure.hint ? ` (${failure.hint})` : ""}`,
        onSuccess: (request) =>
          request._tag === "Run"
            ? `run ${request.command.name}`
            : `${request._tag} ${"topic" in request ? request.topic : ""}`
      })
    )
  )

describe("a command is found", () => {
  it("by its name, with options before and after it", () => {
    assert.strictEqual(request("prompt", "sessions", "list"), "run prompt")
    assert.strictEqual(request("--url", "http://x", "status"), "run status")
    assert.strictEqual(request("--json", "sessions", "--limit", "3", "list"), "run sessions list")
    assert.strictEqual(request("sessions"), "run sessions list")
    assert.strictEqual(request("turns", "work"), "run turns list")
    assert.strictEqual(request("turns", "get", "work", "t"), "run turns get")
  })

  it("or help on it, or a hint at the one that was meant", () => {
    assert.strictEqual(request(), "Help ")
    assert.strictEqual(request("--help"), "Help ")
    assert.strictEqual(request("help"), "Help ")
    assert.strictEqual(request("prompt", "hi", "--help"), "Help prompt")
    assert.strictEqual(request("help", "token", "add"), "Help token add")
    assert.strictEqual(request("sessions", "-h"), "Help sessions")
    assert.strictEqual(request("prompt", "--", "--help"), "run prompt")
    assert.strictEqual(request("--version"), "Version ")
    assert.strictEqual(request("promt"), '2: there is no command "promt" (did you mean `harness prompt`?)')
    assert.strictEqual(
      request("token", "ad", "x"),
      '2: there is no command "token ad" (did you mean `harness token add`?)'
    )
    assert.match(request("frobnicate"), /^2: there is no command "frobnicate" \(there are server, prompt, /)
  })

  it("and its values are checked before anything runs", () => {
    assert.match(request("watch", "--after", "-1"), /^2: --after needs a value/)
    assert.match(request("watch", "--after=-1"), /^2: --after must be a whole number/)
    assert.match(request("watch", "--after", "1e3"), /^2: --after must be a whole number/)
    assert.match(request("sessions", "get", "../x"), /^2: session must be an id: /)
    assert.match(request("sessions", "get"), /^2: missing argument <session>/)
    assert.match(request("sessions", "get", "a", "b"), /^2: unexpected argument "b"/)
    assert.match(request("watch", "--server", "Über"), /^2: --server must be a name: /)
    assert.match(request("token", "add", "x", "--scopes", "read,fly"), /^2: --scopes must be one of "read", /)
    assert.match(request("prompt", "--mode", "work", "x"), /^2: --mode must be one of "agent", /)
    for (const value of ["0", "1001", "1.5"]) {
      assert.match(request("prompt", "--max-steps", value, "x"), /^2: --max-steps must be a whole number/)
    }
    for (const value of ["0", "1e3", "a lot"]) {
      assert.match(request("prompt", "--budget-usd", value, "x"), /^2: --budget-usd must be /)
    }
    assert.match(request("prompt", "--budget-tokens", "0", "x"), /^2: --budget-tokens must be a whole number from 1/)
    assert.match(request("prompt", "--budget-millis", "0", "x"), /^2: --budget-millis must be a whole number from 1/)
    assert.match(request("hooks", "set", "h", "--point", "pre-tool"), /^2: --to is missing/)
    assert.match(
      request("hooks", "set", "h", "--to", "https://x.test", "--point", "never"),
      /^2: --point must be one of/
    )
    assert.match(
      request("webhooks", "set", "w", "--to", "https://x.test", "--events", "all"),
      /^2: --events must be one/
    )
  })
})

describe("every command", () => {
  it("has an example that it understands", () => {
    for (const { examples, name } of commands) {
      assert.isNotEmpty(examples, name)
      for (const { line } of examples) {
        const words = line
          .replace(/^.*?\bharness /, "")
          .replace(/ [|>].*$/, "")
          .match(/"[^"]*"|\S+/g)
        const argv = (words ?? []).map((word) => word.replace(/^"|"$/g, ""))
        assert.strictEqual(request(...argv), `run ${name}`, line)
      }
    }
  })

  it("agrees with the others on what an option is", () => {
    const kinds = new Map<string, boolean>()
    for (const { options } of commands) {
      for (const { about, names, value } of options) {
        assert.isNotEmpty(about, names[0])
        for (const name of names) {
          assert.strictEqual(kinds.get(name) ?? value === undefined, value === undefined, name)
          kinds.set(name, value === undefined)
        }
      }
    }
  })
})
