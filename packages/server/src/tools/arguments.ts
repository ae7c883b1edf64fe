import type { CallResult, JsonObject } from "@harness/protocol"
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js"
import { Either, Option, Predicate } from "effect"
import { makeAjv } from "./ajv.ts"
import { errorResult } from "./results.ts"
import type { Tool } from "./Tool.ts"
import { wellFormedJson } from "./text.ts"

const ISSUES_SHOWN = 10

const cut = errorResult(
  "tool.arguments_cut",
  "The arguments were cut off or are not JSON, so the call was not run. Send the call again with whole arguments."
)
const notObject = errorResult("tool.arguments_invalid", "The arguments must be a JSON object. The call was not run.", {
  issues: [{ path: "", reason: "must be object" }]
})

/**
 * The arguments a model wrote, or what to tell it: cut-off and unparsable ones are never run. Nothing at all is `{}`,
 * which is how some providers call a tool without parameters.
 */
export const parseArguments = (argumentsText: string): Either.Either<JsonObject, CallResult> =>
  Either.try({
    try: (): unknown => (argumentsText.trim() === "" ? {} : JSON.parse(argumentsText)),
    catch: () => cut
  }).pipe(
    Either.map(wellFormedJson),
    Either.filterOrLeft(
      (value): value is JsonObject => Predicate.isRecord(value),
      () => notObject
    )
  )

// One Ajv per schema: two tools may use one `$id`, and a schema that is gone must not stay in memory.
const compile = (schema: JsonObject): Either.Either<ValidateFunction, unknown> =>
  Either.try(() => {
    const { $schema: _, ...rest } = schema
    const ajv = makeAjv({
      strict: false,
      allErrors: true,
      validateFormats: false,
      logger: false,
      meta: false,
      validateSchema: false
    })
    return ajv.compile(rest)
  })

const compiled = new WeakMap<JsonObject, Either.Either<ValidateFunction, unknown>>()

const validatorOf = (schema: JsonObject): Either.Either<ValidateFunction, unknown> => {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const validator = compile(schema)
  compiled.set(schema, validator)
  return validator
}

/** Where a value does not fit, and why. */
export const issueOf = (error: ErrorObject) => {
  const name: unknown =
    error.params["missingProperty"] ?? error.params["additionalProperty"] ?? error.params["unevaluatedProperty"]
  const path = typeof name === "string" ? `${error.instancePath}/${name}` : error.instancePath
  const allowed: unknown = error.params["allowedValues"]
  const reason =
    error.keyword === "required"
      ? "is missing"
      : error.keyword === "additionalProperties" || error.keyword === "unevaluatedProperties"
        ? "is not known"
        : `${error.message ?? "is invalid"}${Array.isArray(allowed) ? `: ${allowed.map((value) => JSON.stringify(value)).join(", ")}` : ""}`
  return { path: path === "" ? "/" : path, reason }
}

/** None: the arguments fit the tool's schema. Some: what to tell the model; the call is not run. */
export const checkArguments = (tool: Pick<Tool, "name" | "inputSchema">, args: JsonObject): Option.Option<CallResult> =>
  Either.match(validatorOf(tool.inputSchema), {
    onLeft: () =>
      Option.some(
        errorResult("tool.schema_invalid", `The schema of "${tool.name}" cannot be read, so it cannot be called.`)
      ),
    onRight: (validate) => {
      if (validate(args) === true) return Option.none()
      const issues = (validate.errors ?? []).slice(0, ISSUES_SHOWN).map(issueOf)
      const lines = issues.map(({ path, reason }) => `- ${path}: ${reason}`).join("\n")
      return Option.some(
        errorResult(
          "tool.arguments_invalid",
          `The arguments of "${tool.name}" are wrong, so it was not run:\n${lines}`,
          { issues }
        )
      )
    }
  })
