import { Array as Arr, Schema } from "effect"
import { JsonObject } from "../schema/Json.ts"
import { lenientOr } from "./lenient.ts"

const noParameters: JsonObject = { type: "object", properties: {} }

const flat = Schema.Struct({
  name: Schema.NonEmptyString,
  description: lenientOr(Schema.String, ""),
  parameters: lenientOr(JsonObject, noParameters)
})
const wrapped = Schema.Struct({ type: Schema.Literal("function"), function: flat })

/** A tool of the call's application, in the one form we use; `parameters` is its JSON Schema. */
export const CallTool = Schema.Struct({
  name: Schema.NonEmptyString,
  description: Schema.String,
  parameters: JsonObject
}).annotations({ identifier: "CallTool" })
export type CallTool = typeof CallTool.Type

/** Reads both shapes jambonz knows, `{name, description, parameters}` and `{type: "function", function}`; writes the second. */
export const CallToolFromJambonz = Schema.transform(Schema.Union(wrapped, flat), Schema.typeSchema(CallTool), {
  strict: true,
  decode: (tool) => ("function" in tool ? tool.function : tool),
  encode: (tool) => ({ type: "function" as const, function: tool })
})

const readTool = Schema.decodeUnknownOption(CallToolFromJambonz)
const writeTool = Schema.encodeSync(CallToolFromJambonz)

/** Every tool of a list that can be read. One that cannot costs the call nothing but itself. */
export const CallTools = Schema.transform(Schema.Unknown, Schema.Array(Schema.typeSchema(CallTool)), {
  strict: true,
  decode: (tools) => (Array.isArray(tools) ? Arr.filterMap(tools, (tool) => readTool(tool)) : []),
  encode: (tools) => tools.map((tool) => writeTool(tool))
})
