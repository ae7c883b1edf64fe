import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { parseAgent } from "../../src/agents/agentFile.ts"
import { GENERAL_TOOLS } from "../../src/permissions/policy.ts"
import { GENERAL_RULES } from "../../src/permissions/rules.ts"

const parse = (text: string, source: "workdir" | "data" = "workdir", file = "reviewer.md") =>
  parseAgent(file, text, source)
const agent = (text: string, source: "workdir" | "data" = "workdir") => Either.getOrThrow(parse(text, source))
const problem = (text: string, source: "workdir" | "data" = "workdir", file = "reviewer.md") =>
  Either.getOrThrow(Either.flip(parse(text, source, file)))

const file = (front: string, body = "You review.") => `---\n${front}\n---\n${body}\n`

describe("an agent's file", () => {
  it("says everything an agent is", () => {
    const text = file(
      [
        "description: Reviews changes",
        "model: openai/gpt-5",
        "tools:",
        "  allow: [read, 'search', task]",
        "  deny: [task]",
        "permissions:",
        "  - { permission: shell, pattern: 'git diff *', action: allow }",
        "mode: plan",
        "steps: 20"
      ].join("\n"),
      "\nYou review.\n\nBe kind.\n"
    )
    expect(agent(text)).toEqual({
      name: "reviewer",
      description: "Reviews changes",
      model: "openai/gpt-5",
      tools: { allow: ["read", "search", "task"], deny: ["task"] },
      permissions: [...GENERAL_RULES, { permission: "shell", pattern: "git diff *", action: "allow" }],
      mode: "plan",
      steps: 20,
      prompt: "You review.\n\nBe kind.",
      source: "workdir"
    })
  })

  it("needs a description alone, and is then what general is, with another prompt", () => {
    expect(agent(file("description: d"))).toEqual({
      name: "reviewer",
      description: "d",
      tools: { allow: GENERAL_TOOLS },
      permissions: GENERAL_RULES,
      mode: "agent",
      prompt: "You review.",
      source: "workdir"
    })
  })

  it("may list its tools, take some away, or have none", () => {
    expect(agent(file("description: d\ntools: [read, 'mcp__*']")).tools).toEqual({ allow: ["read", "mcp__*"] })
    expect(agent(file("description: d\ntools:\n  deny: [shell]")).tools).toEqual({
      allow: GENERAL_TOOLS,
      deny: ["shell"]
    })
    expect(agent(file("description: d\ntools: []")).tools).toEqual({ allow: [] })
    expect(agent(file("description: d\ntools: {allow: []}")).tools).toEqual({ allow: [] })
  })

  it("may hold its prompt above or below, but not both", () => {
    expect(agent(file("description: d\nprompt: |\n  One.\n  Two.", "")).prompt).toBe("One.\nTwo.")
    expect(agent(file("description: d", "")).prompt).toBe("")
    expect(problem(file("description: d\nprompt: One."))).toBe(
      "prompt: is given twice, in the front matter and below it"
    )
  })

  it("is read with line ends of any kind, and a mark at its beginning", () => {
    const text = `\uFEFF${file("description: d", "You review.\n---\nA rule, not a fence.")}`
    expect(agent(text.replaceAll("\n", "\r\n")).prompt).toBe("You review.\n---\nA rule, not a fence.")
  })

  it.each([
    ["", "is empty"],
    [" \n\n", "is empty"],
    ["You review.", "has no front matter: its first line must be ---"],
    ["---\ndescription: d\n", "has front matter without an end: a line --- is missing"],
    [file("description: [d"), /^has front matter that is not YAML, at line \d: /],
    [file("description: d\ndescription: e"), "has front matter that is not YAML, at line 3: duplicate key"],
    [file(""), "description: is missing"],
    [file("just text"), "the front matter must be an object"],
    [file("tools: [read]"), "description: is missing"],
    [file("description: ''"), "description: must be a non empty string"],
    [file("description: d\ntool: [read]"), "tool: is not known here"],
    [file("description: d\nsteps: 0"), "steps: must be a positive number"],
    [file("description: d\nmode: act"), 'mode: must be one of "agent", "plan", "ask"'],
    [file("description: d\nmodel: gpt"), /^model: must be a string matching the pattern/],
    [file("description: d\nname: other"), "name: must be the file's own name"],
    [file("description: d\ntools: ['[a']"), "tools.allow[0]: knows * and ? only: no brackets, braces or backslashes"],
    [
      file("description: d\npermissions: [{ permission: shell, pattern: '*', action: yes }]"),
      'permissions.0.action: must be one of "allow", "ask", "deny"'
    ],
    [file("a: &a [1]\nb: [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]"), "has front matter with too many aliases"]
  ])("%j is named with its reason", (text, reason) => {
    expect(problem(text)).toMatch(reason)
  })

  it("is named as an agent can be", () => {
    for (const name of ["-a.md", ".md", "a b.md", "ä.md", `${"a".repeat(129)}.md`]) {
      expect(problem(file("description: d"), "workdir", name)).toBe("has a name that no agent can have")
    }
    expect(agent(file("description: d\nname: reviewer")).name).toBe("reviewer")
  })

  it("in a workdir it may take a built-in agent's name, but not widen what every session there runs with", () => {
    const rules = (action: string) =>
      file(`description: d\npermissions: [{ permission: shell, pattern: '*', action: ${action} }]`)
    expect(problem(rules("allow"), "workdir", "general.md")).toMatch(/may not allow anything/)
    expect(Either.isRight(parse(rules("deny"), "workdir", "general.md"))).toBe(true)
    expect(Either.isRight(parse(rules("allow"), "data", "general.md"))).toBe(true)
    expect(Either.isRight(parse(rules("allow"), "workdir", "reviewer.md"))).toBe(true)
  })
})
