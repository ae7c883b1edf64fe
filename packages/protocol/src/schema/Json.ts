import { Predicate, Schema } from "effect"

/** Any JSON value. It comes from JSON and is passed on untouched. */
export const Json = Schema.Unknown.annotations({
  identifier: "Json",
  jsonSchema: {},
  arbitrary: () => (fc) => fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)))
})

/** Any JSON object: tool arguments, metadata, details. Passed on untouched. */
export const JsonObject = Schema.declare((value): value is { readonly [key: string]: unknown } =>
  Predicate.isReadonlyRecord(value)
).annotations({
  identifier: "JsonObject",
  description: "a JSON object",
  jsonSchema: { type: "object" },
  arbitrary: () => (fc) =>
    fc
      .dictionary(fc.string(), fc.jsonValue())
      .map((value): { readonly [key: string]: unknown } => JSON.parse(JSON.stringify(value)))
})
export type JsonObject = typeof JsonObject.Type
