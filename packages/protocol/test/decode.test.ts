import { Arbitrary, Effect, FastCheck as fc, Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Protocol from "../src/index.ts"

const { decodeProtocol } = Protocol
const issues = <A, I>(schema: Schema.Schema<A, I>, value: unknown) =>
  Effect.runPromise(Effect.flip(decodeProtocol(schema)(value))).then((error) =>
    error.issues.map((issue) => `${issue.path}: ${issue.reason}`)
  )

const isWireSchema = (value: unknown): value is Schema.Schema<unknown> => Schema.isSchema(value)
const all = Object.entries<unknown>({ ...Protocol })
const schemas = all.flatMap(([name, value]) => (isWireSchema(value) ? [{ name, schema: value }] : []))

describe("decodeProtocol", () => {
  it("answers the value when it fits", async () => {
    const turnId = await Effect.runPromise(decodeProtocol(Protocol.TurnId)("turn-1"))
    expect(turnId).toBe("turn-1")
  })

  it("names every place that does not fit", async () => {
    expect(
      await issues(Protocol.ExternalTool, { name: "a b", description: 1, inputSchema: [], pendingTimeoutMillis: 0.5 })
    ).toEqual([
      "name: must be a string matching the pattern ^[A-Za-z0-9_.-]{1,128}$",
      "description: must be a string",
      "inputSchema: must be a JSON object",
      "pendingTimeoutMillis: must be an integer"
    ])
  })

  it("of a union's members it speaks of the one that was meant", async () => {
    const event = { type: "session.title", sessionId: "s", cursor: 0, at: "today", title: 1 }
    expect((await issues(Protocol.SessionStreamEvent, event)).map((issue) => issue.split(":")[0])).toEqual([
      "cursor",
      "at",
      "title"
    ])
  })

  it("ignores unknown fields of answers, and refuses those of requests", async () => {
    const deleted = await Effect.runPromise(
      decodeProtocol(Protocol.SessionDeletedResponse)({
        sessionId: "s",
        deletedAt: "2026-01-01T00:00:00.000Z",
        later: 1
      })
    )
    expect(deleted).toEqual({ sessionId: "s", deletedAt: "2026-01-01T00:00:00.000Z" })
    expect(await issues(Protocol.CancelTurnRequest, { reason: "enough", because: 1 })).toEqual([
      "because: is not known here"
    ])
  })
})

// A PermissionRequest is what a server asks, not what it is sent.
const requests = schemas.filter(({ name }) => name.endsWith("Request") && name !== "PermissionRequest")

it.each(requests)("$name refuses a field it does not know", async ({ schema }) => {
  const [value] = fc.sample(Arbitrary.make(schema), { numRuns: 1, seed: 7 })
  const wire: unknown = Schema.encodeSync(schema)(value)
  const decoded = decodeProtocol(schema)({ ...Schema.decodeUnknownSync(Schema.Object)(wire), notAField: true })
  const error = await Effect.runPromise(Effect.flip(decoded))
  expect(error.issues).toContainEqual({ path: "notAField", reason: "is not known here" })
})

it("no reason ever holds the rejected value, whatever the schema and the value", () => {
  const canary = "c4n4ry-§-7f3"
  const poisoned = fc.letrec((again) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(canary),
      fc.array(again("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("type", "content", "turn", "sessionId", "parts", "text", "state"), again("value"))
    )
  })).value
  fc.assert(
    fc.property(fc.constantFrom(...schemas), poisoned, ({ schema }, value) => {
      const result = Effect.runSync(Effect.either(decodeProtocol(schema)(value)))
      if (result._tag === "Left") {
        expect(JSON.stringify(result.left.issues)).not.toContain(canary)
        expect(result.left.message).not.toContain(canary)
      }
    }),
    { numRuns: 3000 }
  )
})

describe("the version header", () => {
  it("is read as it is written", () => {
    const version = { protocol: 1, release: "0.6.0-beta.1" }
    expect(Protocol.parseServerVersionHeader(Protocol.formatServerVersion(version))).toEqual(Option.some(version))
  })

  it.each([null, undefined, "", "1", "/1", "x/1.0", "1/", "1/a b", "-1/0.1.0"])("%j is no version", (header) => {
    expect(Protocol.parseServerVersionHeader(header)).toEqual(Option.none())
  })
})

it("a provider's summary keeps no secret it was given", () => {
  const connection = {
    connectionId: Protocol.ConnectionId.make("c"),
    label: "",
    source: "key",
    readOnly: false,
    key: "sk"
  } as const
  const provider = {
    providerId: Protocol.ProviderId.make("p"),
    name: "P",
    state: "connected",
    connections: [connection],
    key: "sk"
  } as const
  expect(JSON.stringify(Protocol.toSafeProviderSummary(provider))).not.toContain("sk")
})

it("each error is sent with a status of its own kind", () => {
  const body = { message: "" }
  expect(Protocol.statusOf(new Protocol.ValidationError({ ...body, code: "request.invalid" }))).toBe(400)
  expect(Protocol.statusOf(new Protocol.ValidationError({ ...body, code: "method.not_allowed" }))).toBe(405)
  expect(Protocol.statusOf(new Protocol.ForbiddenError({ ...body, code: "host.refused" }))).toBe(421)
  expect(Protocol.statusOf(new Protocol.UnavailableError({ ...body, code: "storage.busy" }))).toBe(503)
  expect(Protocol.statusOf(new Protocol.UnavailableError({ ...body, code: "rate.limited" }))).toBe(429)
})
