import { readdirSync, readFileSync } from "node:fs"
import { Effect, Schema, SchemaAST } from "effect"
import { describe, expect, it } from "vitest"
import { decodeProtocol, EndpointErrors, ServerStreamEvent, SessionStreamEvent, TurnStreamEvent } from "../src/index.ts"

const read = (folder: string): ReadonlyArray<{ readonly file: string; readonly wire: unknown }> => {
  const directory = new URL(`golden/${folder}/`, import.meta.url)
  return readdirSync(directory).map((file) => ({
    file,
    wire: JSON.parse(readFileSync(new URL(file, directory), "utf8"))
  }))
}

/** The literal each member of a union is told apart by. */
const kinds = (ast: SchemaAST.AST, key: string): ReadonlyArray<string> => {
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap((type) => kinds(type, key))
  if (SchemaAST.isTransformation(ast)) return kinds(ast.from, key)
  if (!SchemaAST.isTypeLiteral(ast)) return []
  return ast.propertySignatures.flatMap(({ name, type }) =>
    name === key && SchemaAST.isLiteral(type) ? [String(type.literal)] : []
  )
}

const isWireSchema = (value: unknown): value is Schema.Schema<unknown> => Schema.isSchema(value)
const streams = Object.entries<unknown>({
  session: SessionStreamEvent,
  turn: TurnStreamEvent,
  server: ServerStreamEvent
}).flatMap(([name, value]) => (isWireSchema(value) ? [[name, value] as const] : []))

const typed = Schema.Struct({ type: Schema.String })
const tagged = Schema.Struct({ _tag: Schema.String })
const exact = { onExcessProperty: "error", errors: "all" } as const

describe.each(streams)("the %s stream's events on the wire", (folder, schema) => {
  const golden = read(folder)

  it.each(golden)("$file", ({ wire }) => {
    const event = Schema.decodeUnknownSync(schema, exact)(wire)
    expect(JSON.parse(JSON.stringify(Schema.encodeSync(schema)(event)))).toEqual(wire)
  })

  it("has an example of each type, and of no other", () => {
    const shown = new Set(golden.map(({ wire }) => Schema.decodeUnknownSync(typed)(wire).type))
    expect([...shown].sort()).toEqual([...new Set(kinds(schema.ast, "type"))].sort())
  })

  it.each(golden)("a client ignores what it does not know in $file", async ({ wire }) => {
    const known = await Effect.runPromise(decodeProtocol(schema)(wire))
    const later = { ...Schema.decodeUnknownSync(Schema.Object)(wire), fromALaterRelease: { x: 1 } }
    expect(await Effect.runPromise(decodeProtocol(schema)(later))).toEqual(known)
  })
})

describe("errors on the wire", () => {
  const golden = read("errors")

  it.each(golden)("$file", ({ wire }) => {
    const error = Schema.decodeUnknownSync(EndpointErrors, exact)(wire)
    expect(error).toBeInstanceOf(Error)
    expect(Schema.encodeSync(EndpointErrors)(error)).toEqual(wire)
  })

  it("has an example of each", () => {
    const shown = golden.map(({ wire }) => Schema.decodeUnknownSync(tagged)(wire)._tag)
    expect(shown.sort()).toEqual([...kinds(EndpointErrors.ast, "_tag")].sort())
  })
})

it("a type of a later release is an error a client can see, and skip", async () => {
  const error = await Effect.runPromise(Effect.flip(decodeProtocol(SessionStreamEvent)({ type: "session.later" })))
  expect(error.issues.map((issue) => issue.path)).toEqual(["type"])
})
