import { Arbitrary, FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Protocol from "../src/index.ts"

const isWireSchema = (value: unknown): value is Schema.Schema<unknown> => Schema.isSchema(value)
const schemas = Object.entries<unknown>({ ...Protocol }).flatMap(([name, value]) =>
  isWireSchema(value) ? [[name, value] as const] : []
)

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe("whatever a schema lets be said survives the wire", () => {
  it.each(schemas)("%s", (_, schema) => {
    const encode = Schema.encodeSync(schema)
    const decode = Schema.decodeUnknownSync(schema)
    fc.assert(
      fc.property(Arbitrary.make(schema), (value) => {
        const wire = throughJson(encode(value))
        const back = decode(wire)
        expect(throughJson(encode(back))).toEqual(wire)
        if (!(value instanceof Error)) expect(back).toEqual(value)
      }),
      { numRuns: 25 }
    )
  })
})

const queries = new Set(schemas.map(([name]) => name).filter((name) => name.endsWith("Query")))
const decoding = new Set(["WholeNumber", "PageLimit"])

it("wire values are JSON as they stand: only queries decode to something else", () => {
  const decoders = schemas.filter(([name]) => !queries.has(name) && !decoding.has(name))
  for (const [name, schema] of decoders) {
    fc.assert(
      fc.property(Arbitrary.make(schema), (value) => {
        if (!(value instanceof Error)) expect(Schema.encodeSync(schema)(value), name).toEqual(value)
      }),
      { numRuns: 3 }
    )
  }
})
