import { HttpApi, HttpApiBuilder, HttpApiError, HttpServer } from "@effect/platform"
import { Effect, Layer, Option, Schema } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { ConversationGroup } from "../src/groups/Conversation.ts"
import { withEdgeErrors } from "../src/groups/errors.ts"
import { ForksGroup } from "../src/groups/Forks.ts"
import { RuntimeGroup } from "../src/groups/Runtime.ts"
import { Authorization } from "../src/middleware/Authorization.ts"
import { invalidRequest, resumePosition } from "../src/request.ts"

const Api = withEdgeErrors(HttpApi.make("some").add(ForksGroup).add(ConversationGroup).add(RuntimeGroup).prefix("/v1"))

const forks = HttpApiBuilder.group(Api, "forks", (handlers) =>
  handlers.handle("forkSession", () => Effect.dieMessage("no request of these tests gets here"))
)
const conversation = HttpApiBuilder.group(Api, "conversation", (handlers) =>
  handlers.handle("appendEntry", ({ path }) =>
    Effect.succeed({ sessionId: path.sessionId, entryId: path.entryId, cursor: 1, disposition: "accepted" as const })
  )
)
const runtime = HttpApiBuilder.group(Api, "runtime", (handlers) =>
  handlers
    .handle("capabilities", () => Effect.dieMessage("not asked for"))
    .handle("metrics", () => Effect.succeed(""))
    .handle("logs", ({ urlParams }) => Effect.succeed({ logs: [], next: JSON.stringify(urlParams) }))
)
const anybody = Layer.succeed(Authorization, { bearer: () => Effect.succeed({ actorId: "ada", scopes: [] }) })
const api = HttpApiBuilder.api(Api).pipe(Layer.provide([forks, conversation, runtime]), Layer.provide(anybody))
const edge = HttpApiBuilder.middleware(Api, (app) =>
  Effect.catchAll(app, (error: unknown) =>
    error instanceof HttpApiError.HttpApiDecodeError ? Effect.fail(invalidRequest(error)) : Effect.die(error)
  )
)
const { handler, dispose } = HttpApiBuilder.toWebHandler(Layer.mergeAll(api, edge, HttpServer.layerContext))
afterAll(dispose)

const Refusal = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  details: Schema.Struct({ issues: Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String })) })
})

const send = async (method: string, path: string, body?: unknown) => {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }
  const response = await handler(new Request(`http://host/v1${path}`, { method, ...init }))
  const text = await response.text()
  return { status: response.status, text, json: (): unknown => JSON.parse(text) }
}

const refused = async (method: string, path: string, body?: unknown) => {
  const answer = await send(method, path, body)
  expect(answer.status).toBe(400)
  const { code, details } = Schema.decodeUnknownSync(Refusal)(answer.json())
  return { code, issues: details.issues.map((issue) => `${issue.path}: ${issue.reason}`), text: answer.text }
}

const entry = "/servers/main/sessions/s1/conversation/e1"
const fork = "/servers/main/sessions/s1/forks/f1"

describe("a body that does not fit is a 400 that names every place", () => {
  it.each([
    [{}, ["role: is missing", "content: is missing"]],
    [[], [": must be an object"]],
    [{ role: "boss", content: "hi" }, ['role: must be one of "user", "assistant", "custom"']],
    [{ role: "user", content: " " }, ["content: must be text or a list of parts, and not blank"]],
    [{ role: "user", content: 5 }, ["content: must be a string or a list"]],
    [{ role: "user", content: [{ type: "video" }] }, ['content.0.type: must be one of "text", "image", "file"']],
    [
      { role: "user", content: [{ type: "text", text: 5, colour: "red" }] },
      ["content.0.colour: is not known here", "content.0.text: must be a string"]
    ],
    [{ role: "user", content: "hi", contents: "hi" }, ["contents: is not known here"]],
    [
      { role: "user", content: "hi", custom: { type: "", kind: 1 } },
      ["custom.kind: is not known here", "custom.type: must be a non empty string"]
    ]
  ])("%j", async (body, issues) => {
    expect(await refused("PUT", entry, body)).toMatchObject({ code: "request.invalid", issues })
  })

  it.each([
    [{ turnId: "a", through: { turnId: "b" } }, [": must be a fork by turnId or through, not both"]],
    [{ through: { turnId: "a", entryId: "b" } }, ["through.entryId: is not known here"]],
    [{ turn: "a" }, ["turn: is not known here"]]
  ])("fork %j", async (body, issues) => {
    expect((await refused("POST", fork, body)).issues).toEqual(issues)
  })
})

describe("a query is as strict as a body", () => {
  it.each([
    ["/logs?limit=0", ["limit: must be a whole number from 1 to 500"]],
    ["/logs?limit=501", ["limit: must be a whole number from 1 to 500"]],
    ["/logs?limit=1e2", ["limit: must be a whole number in plain digits"]],
    ["/logs?limit=0x5", ["limit: must be a whole number in plain digits"]],
    ["/logs?limit=%205", ["limit: must be a whole number in plain digits"]],
    ["/logs?limit=%2B1", ["limit: must be a whole number in plain digits"]],
    ["/logs?limit=-1", ["limit: must be a whole number in plain digits"]],
    ["/logs?limit=5&limit=6", ["limit: must be a string"]],
    ["/logs?limits=5", ["limits: is not known here"]],
    ["/metrics?x=1", ["x: must be left out"]]
  ])("%s", async (path, issues) => {
    expect((await refused("GET", path)).issues).toEqual(issues)
  })

  it("and its numbers are numbers for the handler", async () => {
    const answer = await send("GET", "/logs?limit=500&after=007&level=warn")
    expect(answer.json()).toEqual({ logs: [], next: JSON.stringify({ after: 7, level: "warn", limit: 500 }) })
  })
})

describe("an id outside the rule is a 400", () => {
  it.each([
    "/servers/Main/sessions/s1/conversation/e1",
    "/servers/main/sessions/-s1/conversation/e1",
    "/servers/main/sessions/s%2F1/conversation/e1",
    "/servers/main/sessions/s1/conversation/%20"
  ])("%s", async (path) => {
    expect((await refused("PUT", path, { role: "user", content: "hi" })).code).toBe("request.invalid")
  })
})

it("no refusal quotes what it refuses", async () => {
  const canary = "sk-live-4f9a1c"
  const bodies = [
    canary,
    [canary],
    { role: canary, content: canary },
    { role: "user", content: [{ type: canary }] },
    { role: "user", content: [{ type: "image", mime: canary, data: `${canary}$` }] },
    { role: "user", content: "hi", custom: canary, audience: canary },
    { role: "user", content: "hi", audience: [[canary]], extra: { key: canary } }
  ]
  for (const body of bodies) expect((await refused("PUT", entry, body)).text).not.toContain(canary)
  expect((await refused("GET", `/logs?limit=${canary}&level=${canary}`)).text).not.toContain(canary)
  expect((await refused("PUT", `/servers/${canary}!/sessions/s/conversation/e`, {})).text).not.toContain(canary)
})

describe("where a stream goes on", () => {
  const start = (query: number | undefined, header: string | undefined) =>
    Effect.runSync(Effect.either(resumePosition(query, header)))

  it("the query wins over Last-Event-ID, and neither starts live", () => {
    expect(start(3, "9")).toMatchObject({ right: Option.some(3) })
    expect(start(undefined, "9")).toMatchObject({ right: Option.some(9) })
    expect(start(undefined, undefined)).toMatchObject({ right: Option.none() })
    expect(start(undefined, "")).toMatchObject({ right: Option.none() })
  })

  it.each(["-1", "1e3", "one", "1.5", " 1"])("Last-Event-ID %j is cursor.invalid", (header) => {
    expect(start(undefined, header)).toMatchObject({ left: { code: "cursor.invalid" } })
  })
})
