import { assert, describe, it } from "@effect/vitest"
import { generalLayer, modeAllows, policyAllows, validateGlobs, validateLayer } from "../../src/permissions/policy.ts"

describe("the tool policy", () => {
  it("denies everything when nobody says yes", () => {
    assert.isFalse(policyAllows([], "read"))
    assert.isFalse(policyAllows([undefined, undefined], "read"))
    assert.isFalse(policyAllows([{ allow: [] }], "read"))
    assert.isFalse(policyAllows([{ deny: ["shell"] }], "read"))
  })
  it("needs every layer that says something, and a missing one narrows nothing", () => {
    assert.isTrue(policyAllows([{ allow: ["*"] }, undefined, {}], "read"))
    assert.isFalse(policyAllows([{ allow: ["*"] }, { allow: ["list"] }], "read"))
    assert.isFalse(policyAllows([{ allow: ["*"] }, { allow: [] }], "read"))
  })
  it("lets deny win over allow, in its own layer and in others", () => {
    assert.isFalse(policyAllows([{ allow: ["*"], deny: ["read"] }], "read"))
    assert.isFalse(policyAllows([{ deny: ["re*"] }, { allow: ["read"] }], "read"))
  })
  it("crosses separators with a star", () => {
    assert.isTrue(policyAllows([{ allow: ["mcp*"] }], "mcp/server/tool.name:x"))
  })
  it("lets general use the built-in tools and what the session declares, and nothing else", () => {
    for (const name of ["read", "list", "shell", "task"]) assert.isTrue(policyAllows([generalLayer()], name))
    assert.isFalse(policyAllows([generalLayer()], "lookup"))
    assert.isTrue(policyAllows([generalLayer(["lookup"])], "lookup"))
  })
  it("only reads in plan and ask", () => {
    assert.isTrue(modeAllows("agent", { readOnly: false }))
    assert.isFalse(modeAllows("plan", { readOnly: false }))
    assert.isFalse(modeAllows("ask", { readOnly: false }))
    assert.isTrue(modeAllows("ask", { readOnly: true }))
  })
})

describe("a glob of the policy", () => {
  it("is refused when it cannot be meant, by its place", () => {
    const globs = ["read", "", "[", "a{b", "!x", "a b", "x\\", "a".repeat(300), "a\u0000"]
    assert.deepStrictEqual(
      validateGlobs(globs, "tools.allow").map((issue) => issue.path),
      [1, 2, 3, 4, 5, 6, 7, 8].map((index) => `tools.allow[${index}]`)
    )
    assert.deepStrictEqual(
      validateLayer({ allow: ["*"], deny: ["["] }).map((issue) => issue.path),
      ["tools.deny[0]"]
    )
  })
  it("is fine with stars, question marks and the characters of names", () => {
    assert.deepStrictEqual(validateGlobs(["*", "re?d", "mcp__*", "a.b/c:d-e", "**", "ä/ö"]), [])
  })
})
