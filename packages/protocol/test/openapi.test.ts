import { readFileSync } from "node:fs"
import { HttpApi } from "@effect/platform"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { HarnessApi, makeHarnessOpenApi } from "../src/index.ts"

const Media = Schema.Record({ key: Schema.String, value: Schema.Struct({ schema: Schema.Unknown }) })
const Operation = Schema.Struct({
  operationId: Schema.String,
  summary: Schema.String,
  security: Schema.Array(Schema.Unknown),
  parameters: Schema.Array(
    Schema.Struct({ name: Schema.String, in: Schema.Literal("path", "query", "header"), required: Schema.Boolean })
  ),
  requestBody: Schema.optional(Schema.Struct({ required: Schema.Boolean, content: Media })),
  responses: Schema.Record({
    key: Schema.String,
    value: Schema.Struct({ description: Schema.String, content: Schema.optional(Media) })
  })
})
const Document = Schema.Struct({
  openapi: Schema.Literal("3.1.0"),
  info: Schema.Struct({ title: Schema.String, version: Schema.String }),
  paths: Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Operation }) }),
  components: Schema.Struct({
    schemas: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
    securitySchemes: Schema.Struct({
      bearer: Schema.Struct({ type: Schema.Literal("http"), scheme: Schema.Literal("bearer") })
    })
  })
})

const spec = makeHarnessOpenApi()
const text = JSON.stringify(spec)
const document = Schema.decodeUnknownSync(Document)(spec)
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation }))
)
const find = (name: string) => operations.find((entry) => entry.name === name)?.operation

describe("the OpenAPI document", () => {
  it("serves exactly these routes, with these statuses", async () => {
    const lines = operations.map(
      ({ name, operation }) =>
        `${name} ${operation.operationId} ${operation.parameters
          .filter((parameter) => parameter.in === "query")
          .map((parameter) => `?${parameter.name}`)
          .join("")} ${Object.keys(operation.responses).join(",")}`
    )
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("golden/routes.txt")
  })

  it("is the API that is served", () => {
    const served: Array<string> = []
    HttpApi.reflect(HarnessApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint }) => served.push(`${endpoint.method} ${endpoint.path.replace(/:(\w+)/g, "{$1}")}`)
    })
    expect(operations.map(({ name }) => name).sort()).toEqual(served.sort())
  })

  it("names nothing that it does not define", () => {
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? "")
    expect(names.length).toBeGreaterThan(100)
    for (const name of names) expect(document.components.schemas, name).toHaveProperty([name])
    expect(text.match(/"\$ref":"(?!#\/components\/schemas\/)/)).toBeNull()
  })

  it("knows no error that nobody sends", () => {
    expect(text).not.toContain("HttpApiDecodeError")
  })

  it.each([
    ["GET /v1/servers/{server}/events", "ServerStreamEvent"],
    ["GET /v1/servers/{server}/sessions/{sessionId}/events", "SessionStreamEvent"],
    ["GET /v1/servers/{server}/sessions/{sessionId}/turns/{turnId}/events", "TurnStreamEvent"]
  ])("%s streams %s", (name, event) => {
    expect(find(name)?.responses["200"]?.content).toEqual({
      "text/event-stream": { schema: { $ref: `#/components/schemas/${event}` } }
    })
  })

  it.each(operations)("$name names its path parameters, and says what it does", ({ name, operation }) => {
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    expect(operation.parameters.filter((p) => p.in === "path" && p.required).map((p) => p.name)).toEqual(inPath)
    expect(operation.summary).not.toBe("")
  })

  it.each(operations)("$name asks for a token, unless it is health", ({ name, operation }) => {
    expect(operation.security.length > 0).toBe(name !== "GET /v1/health")
  })

  it.each(operations)("$name may answer with each error the edge makes", ({ operation }) => {
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining(["400", "401", "403", "405", "413", "415", "421", "429", "431", "500", "503"])
    )
  })

  it("a body all of whose fields are optional may be absent", () => {
    const body = (name: string) => find(name)?.requestBody
    expect(body("PUT /v1/servers/{server}/sessions/{sessionId}")).toEqual({
      required: false,
      content: { "application/json": { schema: { $ref: "#/components/schemas/CreateSessionRequest" } } }
    })
    expect(body("PUT /v1/servers/{server}/sessions/{sessionId}/turns/{turnId}")?.required).toBe(true)
  })

  it("requests are closed, answers are open", () => {
    expect(document.components.schemas["SubmitPromptRequest"]).toMatchObject({ additionalProperties: false })
    expect(document.components.schemas["TurnSnapshot"]).not.toMatchObject({ additionalProperties: false })
  })
})

it("contract §2 lists each route of this release", () => {
  const routes = readFileSync(new URL("fixtures/routes.txt", import.meta.url), "utf8")
    .trim()
    .split("\n")
  expect(operations.map(({ name }) => name).sort()).toEqual([...routes].sort())
})
