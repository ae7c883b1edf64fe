import * as OpenApi from "@effect/platform/OpenApi"
import { HarnessApi } from "./Api.ts"

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
type Node = { readonly [key: string]: Json }

const isNode = (value: Json | undefined): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const refPrefix = "#/components/schemas/"
const ref = (name: string): Node => ({ $ref: refPrefix + name })

// Ours never answers this: the edge turns it into a ValidationError.
const foreign = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

/** Alternatives once each, and without those nobody sends. */
const tidy = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isNode(value)) return value
  const node = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tidy(inner)]))
  const anyOf = node["anyOf"]
  if (!Array.isArray(anyOf)) return node
  const seen = new Map(anyOf.map((member) => [JSON.stringify(member), member]))
  seen.delete(JSON.stringify(ref("HttpApiDecodeError")))
  const members = [...seen.values()]
  const [only] = members
  return members.length === 1 && isNode(only) ? only : { ...node, anyOf: members }
}

/** A request's root refuses what it does not know; null stands for an absent body. */
const requestSchema = (schema: Json | undefined): { readonly schema: Json; readonly optional: boolean } => {
  if (isNode(schema) && Array.isArray(schema["anyOf"])) {
    const rest = schema["anyOf"].filter((member) => !(isNode(member) && member["type"] === "null"))
    const [only] = rest
    if (rest.length < schema["anyOf"].length && only !== undefined) {
      return { schema: rest.length === 1 ? only : { anyOf: rest }, optional: true }
    }
  }
  return { schema: schema ?? {}, optional: false }
}

const streams = new Map([
  ["sessions.watchSession", "SessionStreamEvent"],
  ["turns.watchTurn", "TurnStreamEvent"],
  ["servers.watchServer", "ServerStreamEvent"]
])

const pageParameters: ReadonlyArray<Json> = [
  { name: "limit", in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 500 } },
  { name: "after", in: "query", required: false, schema: ref("PageCursor") },
  { name: "before", in: "query", required: false, schema: ref("PageCursor"), description: "not together with after" }
]

// Their queries are unions, which are not listed parameter by parameter.
const paged = new Set(["turns.listTurns", "compactions.listCompactions"])

const operation = (op: Node): Node => {
  const id = String(op["operationId"])
  const event = streams.get(id)
  const responses = isNode(op["responses"]) ? op["responses"] : {}
  const parameters = Array.isArray(op["parameters"]) ? op["parameters"] : []
  const requestBody = isNode(op["requestBody"]) ? op["requestBody"] : undefined
  const content = isNode(requestBody?.["content"]) ? requestBody["content"]["application/json"] : undefined
  const request = requestSchema(isNode(content) ? content["schema"] : undefined)
  return {
    ...op,
    parameters: paged.has(id) ? [...parameters, ...pageParameters] : parameters,
    responses:
      event === undefined
        ? responses
        : {
            ...responses,
            200: {
              description: `Frames of server-sent events; the data of each is a ${event}`,
              content: { "text/event-stream": { schema: ref(event) } }
            }
          },
    ...(requestBody === undefined
      ? {}
      : { requestBody: { content: { "application/json": { schema: request.schema } }, required: !request.optional } })
  }
}

/** Names of the components that are some request's body. */
const requestRoots = (paths: Node): ReadonlySet<string> => {
  const text = Object.values(paths)
    .flatMap((path) => (isNode(path) ? Object.values(path) : []))
    .map((op) => (isNode(op) ? JSON.stringify(op["requestBody"] ?? null) : ""))
  return new Set(
    text.flatMap((body) => [...body.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? ""))
  )
}

const closed = (schema: Json): Json =>
  isNode(schema) && schema["type"] === "object" ? { ...schema, additionalProperties: false } : schema

/** What `GET /v1/openapi.json` answers: the whole API, with the events of each stream as components. */
export const makeHarnessOpenApi = (): Node => {
  const spec: Node = JSON.parse(JSON.stringify(OpenApi.fromApi(HarnessApi, { additionalPropertiesStrategy: "allow" })))
  const tidied = tidy(spec)
  const root = isNode(tidied) ? tidied : {}
  const components = isNode(root["components"]) ? root["components"] : {}
  const schemas = isNode(components["schemas"]) ? components["schemas"] : {}
  const paths = Object.fromEntries(
    Object.entries(isNode(root["paths"]) ? root["paths"] : {}).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(isNode(item) ? item : {}).map(([method, op]) => [method, isNode(op) ? operation(op) : op])
      )
    ])
  )
  const roots = requestRoots(paths)
  return {
    ...root,
    paths,
    components: {
      ...components,
      schemas: Object.fromEntries(
        Object.entries(schemas)
          .filter(([name]) => !foreign.has(name))
          .map(([name, schema]) => [name, roots.has(name) ? closed(schema) : schema])
      )
    },
    security: [{ bearer: [] }]
  }
}
