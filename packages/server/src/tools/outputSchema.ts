import { Either } from "effect"
import { makeAjv } from "./ajv.ts"
import { issueOf } from "./arguments.ts"

/** Paths a model is told of at once. */
const ISSUES_SHOWN = 10
const CACHED_MAX = 256

/** What does not fit, as lines for a model; empty when everything does. */
export type OutputCheck = (value: unknown) => ReadonlyArray<string>

const cache = new Map<string, Either.Either<OutputCheck, string>>()

const compile = (schema: object): Either.Either<OutputCheck, string> =>
  Either.try({
    try: () => {
      const ajv = makeAjv({ strict: false, allErrors: true, validateFormats: false, logger: false })
      const validate = ajv.compile(schema)
      return (value: unknown) =>
        validate(value) === true
          ? []
          : (validate.errors ?? [])
              .slice(0, ISSUES_SHOWN)
              .map(issueOf)
              .map(({ path, reason }) => `${path} ${reason}`)
    },
    catch: () => "is not a JSON Schema that can be read"
  })

/** The check of an output contract, or why its schema cannot be one. No schema: any JSON value fits. */
export const outputCheck = (schema: unknown): Either.Either<OutputCheck, string> => {
  if (schema === undefined) return Either.right(() => [])
  if (schema === true || schema === false) return Either.right(() => (schema ? [] : ["/ nothing fits"]))
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    return Either.left("must be a JSON Schema: an object, true or false")
  }
  const key = JSON.stringify(schema)
  const known = cache.get(key)
  if (known !== undefined) return known
  const made = compile(schema)
  if (cache.size >= CACHED_MAX) cache.clear()
  cache.set(key, made)
  return made
}
