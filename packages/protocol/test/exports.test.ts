import { readdirSync, readFileSync } from "node:fs"
import { HttpApi } from "@effect/platform"
import { Context, Schema } from "effect"
import { expect, it } from "vitest"
import * as Protocol from "../src/index.ts"

const here = new URL(".", import.meta.url)
const names = readFileSync(new URL("fixtures/exports.txt", here), "utf8")
  .split("\n")
  .filter((name) => name !== "")
const dist = new URL("../dist/", here)
const declarations = readdirSync(dist, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".d.ts"))
  .map((file) => readFileSync(new URL(file, dist), "utf8"))
  .join("\n")

const runtime: Readonly<Record<string, unknown>> = Protocol
const isType = (name: string) => new RegExp(`^export (type|interface|declare class) ${name}\\b`, "m").test(declarations)
const apis = new Set(["HarnessApi", "SystemApi", "RuntimeApi", "SessionsApi"])
const functions = new Set(["decodeProtocol", "makeHarnessOpenApi", "parseServerVersionHeader", "toSafeProviderSummary"])

it("the list of names has not shrunk", () => {
  expect(names).toHaveLength(new Set(names).size)
  expect(names.length).toBeGreaterThan(230)
})

it.each(names)("%s is exported and is what its name says", (name) => {
  const value = runtime[name]
  if (name.endsWith("Value")) {
    expect(isType(name), "a type").toBe(true)
    expect(value, "no value").toBeUndefined()
  } else if (/^[A-Z0-9_]+$/.test(name)) {
    expect(["string", "number", "object"]).toContain(typeof value)
  } else if (apis.has(name)) {
    expect(HttpApi.isHttpApi(value)).toBe(true)
  } else if (functions.has(name)) {
    expect(typeof value).toBe("function")
  } else if (name === "Authorization") {
    expect(Context.isTag(value)).toBe(true)
  } else {
    expect(Schema.isSchema(value)).toBe(true)
  }
})

it("each XValue is the type of the schema X", () => {
  const values = names.filter((name) => name.endsWith("Value"))
  for (const name of values) expect(Schema.isSchema(runtime[name.replace(/Value$/, "")]), name).toBe(true)
})

it("every exported name has a doc line", () => {
  const source = new URL("../src/", here)
  const bare = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const lines = readFileSync(new URL(file, source), "utf8").split("\n")
      return lines.filter(
        (line, index) => /^export (const|class|interface|function) /.test(line) && !/\*\/$/.test(lines[index - 1] ?? "")
      )
    })
  expect(bare).toEqual([])
})
