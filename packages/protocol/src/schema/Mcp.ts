import { Predicate, Schema } from "effect"
import { strict } from "../strict.ts"
import { SafeFailure } from "./Failure.ts"
import { JsonObject } from "./Json.ts"
import { submitFields } from "./Submit.ts"

/** What `harness.json` calls an MCP server; it is in paths, so it follows the rule for ids. */
export const McpServerName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/),
  Schema.brand("McpServerName"),
  Schema.annotations({ identifier: "McpServerName" })
)
export type McpServerName = typeof McpServerName.Type

/** A prompt's name, as its MCP server gives it. */
export const McpPromptName = Schema.NonEmptyString.annotations({ identifier: "McpPromptName" })
/** MCP prompts take text alone. */
export const McpPromptArguments = Schema.declare(
  (value): value is { readonly [key: string]: string } =>
    Predicate.isReadonlyRecord(value) && Object.values(value).every(Predicate.isString)
).annotations({
  identifier: "McpPromptArguments",
  description: "an object of strings",
  jsonSchema: { type: "object", additionalProperties: { type: "string" } },
  arbitrary: () => (fc) => fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true })
})

/** A tool an MCP server offers. */
export const McpCatalogTool = Schema.Struct({
  name: Schema.String,
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  inputSchema: JsonObject
}).annotations({ identifier: "McpCatalogTool" })

/** A resource an MCP server offers. */
export const McpCatalogResource = Schema.Struct({
  uri: Schema.String,
  name: Schema.String,
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  mimeType: Schema.optional(Schema.String)
}).annotations({ identifier: "McpCatalogResource" })

/** A family of resources, by RFC 6570 template. */
export const McpCatalogResourceTemplate = Schema.Struct({
  uriTemplate: Schema.String,
  name: Schema.String,
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  mimeType: Schema.optional(Schema.String)
}).annotations({ identifier: "McpCatalogResourceTemplate" })

/** A prompt an MCP server offers. */
export const McpCatalogPrompt = Schema.Struct({
  name: McpPromptName,
  title: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  arguments: Schema.optional(
    Schema.Array(
      Schema.Struct({
        name: Schema.String,
        description: Schema.optional(Schema.String),
        required: Schema.optional(Schema.Boolean)
      })
    )
  )
}).annotations({ identifier: "McpCatalogPrompt" })

/** One MCP server and what it offers; a server that is not there offers nothing and says why. */
export const McpServerCatalog = Schema.Struct({
  name: McpServerName,
  state: Schema.Literal("connecting", "connected", "needs_login", "failed", "disabled"),
  failure: Schema.optional(SafeFailure),
  tools: Schema.Array(McpCatalogTool),
  resources: Schema.Array(McpCatalogResource),
  resourceTemplates: Schema.Array(McpCatalogResourceTemplate),
  prompts: Schema.Array(McpCatalogPrompt)
}).annotations({ identifier: "McpServerCatalog" })
export type McpServerCatalogValue = typeof McpServerCatalog.Type
/** As `McpServerCatalog`. */
export const McpCatalogServer = McpServerCatalog

/** What all MCP servers of a session offer; `revision` grows with each change. */
export const McpCatalogSnapshot = Schema.Struct({
  revision: Schema.NonNegativeInt,
  servers: Schema.Array(McpServerCatalog)
}).annotations({ identifier: "McpCatalogSnapshot" })
export type McpCatalogSnapshotValue = typeof McpCatalogSnapshot.Type
/** What all MCP servers of a session offer. */
export const McpCatalogResponse = McpCatalogSnapshot
export type McpCatalogResponseValue = McpCatalogSnapshotValue

/** Reads one resource. */
export const ReadMcpResourceRequest = Schema.Struct({ uri: Schema.NonEmptyString }).annotations({
  identifier: "ReadMcpResourceRequest",
  ...strict
})
export type ReadMcpResourceRequestValue = typeof ReadMcpResourceRequest.Type

/** One piece of a resource: text, or base64. */
export const McpResourceContents = Schema.Union(
  Schema.Struct({ uri: Schema.String, mimeType: Schema.optional(Schema.String), text: Schema.String }),
  Schema.Struct({ uri: Schema.String, mimeType: Schema.optional(Schema.String), blob: Schema.String })
).annotations({ identifier: "McpResourceContents" })

/** A resource, as its server gave it. */
export const McpResourceReadResult = Schema.Struct({ contents: Schema.Array(McpResourceContents) }).annotations({
  identifier: "McpResourceReadResult"
})
export type McpResourceReadResultValue = typeof McpResourceReadResult.Type
/** A resource, as its server gave it. */
export const McpResourceReadResponse = McpResourceReadResult
export type McpResourceReadResponseValue = McpResourceReadResultValue

/** Submits a server's prompt, expanded, as a turn. */
export const SubmitMcpPromptRequest = Schema.Struct({
  name: McpPromptName,
  arguments: Schema.optional(McpPromptArguments),
  ...submitFields
}).annotations({ identifier: "SubmitMcpPromptRequest", ...strict })
export type SubmitMcpPromptRequestValue = typeof SubmitMcpPromptRequest.Type
