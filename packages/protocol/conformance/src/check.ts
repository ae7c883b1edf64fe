import { decodeProtocol, EndpointErrors } from "@harness/protocol"
import { Effect, type Schema } from "effect"
import type { Answer, Harness } from "./harness.ts"

/** One promise of the contract, and how to see whether a server keeps it: `run` throws when it does not. */
export interface Check {
  readonly section: string
  readonly name: string
  readonly run: (harness: Harness) => Promise<void>
}

/** The checks of one section. */
export const section = (
  name: string,
  checks: Readonly<Record<string, (harness: Harness) => Promise<void>>>
): ReadonlyArray<Check> => Object.entries(checks).map(([promise, run]) => ({ section: name, name: promise, run }))

const show = (value: unknown) => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}

/** Throws unless it holds. */
export function ensure(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)])
  )
}

/** Throws unless both are the same JSON, whatever the order of their keys. */
export const same = (actual: unknown, wanted: unknown, what: string) =>
  ensure(
    JSON.stringify(canonical(actual)) === JSON.stringify(canonical(wanted)),
    `${what}: got ${show(actual)}, wanted ${show(wanted)}`
  )

/** The value, once it is seen to be of this shape. */
export const shaped = <A, I>(schema: Schema.Schema<A, I>, value: unknown, what: string): A => {
  const result = Effect.runSync(Effect.either(decodeProtocol(schema)(value)))
  if (result._tag === "Left") throw new Error(`${what} is not as promised: ${result.left.message}; got ${show(value)}`)
  return result.right
}

/** What a good answer says: it has this status and this shape. */
export const answers = <A, I>(
  answer: Answer,
  status: number | ReadonlyArray<number>,
  schema: Schema.Schema<A, I>
): A => {
  const wanted = typeof status === "number" ? [status] : status
  ensure(
    wanted.includes(answer.status),
    `${answer.name} answered ${answer.status}, not ${wanted.join(" or ")}: ${show(answer.json())}`
  )
  return shaped(schema, answer.json(), `the body of ${answer.name}`)
}

/** What a refusal says: it has this status, tag and code, and a whole error body. */
export const refuses = (
  answer: Answer,
  status: number,
  tag: EndpointErrors["_tag"],
  code?: string | ReadonlyArray<string>
): EndpointErrors => {
  ensure(answer.status === status, `${answer.name} answered ${answer.status}, not ${status}: ${show(answer.text)}`)
  const error = shaped(EndpointErrors, answer.json(), `the error of ${answer.name}`)
  same(error._tag, tag, `_tag of ${answer.name}`)
  const codes = code === undefined ? [error.code] : typeof code === "string" ? [code] : code
  ensure(codes.includes(error.code), `${answer.name} has code ${error.code}, not ${codes.join(" or ")}`)
  ensure(error.message !== "", `${answer.name} has no message`)
  same(error.requestId, answer.headers.get("x-request-id"), `requestId of ${answer.name}`)
  return error
}
