import { Option, Predicate } from "effect"

/** Says nothing, whatever it is of. */
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)

/** What may stand beside the text and changes nothing of it. */
const beside = new Set(["role", "content"])

const parsed: (data: string) => Option.Option<unknown> = Option.liftThrowable(JSON.parse)

/**
 * The text of a chunk of Chat Completions that holds text and nothing else; undefined: it holds more, or is none.
 * Source: OpenAI's API reference, "The chat completion chunk object".
 */
export const plainTextOf = (data: string): string | undefined => {
  const chunk = Option.getOrUndefined(parsed(data))
  if (!Predicate.isRecord(chunk) || !isEmpty(chunk["error"]) || !isEmpty(chunk["usage"])) return undefined
  const { choices } = chunk
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined
  if (!Predicate.isRecord(choice) || !isEmpty(choice["finish_reason"]) || !Predicate.isRecord(choice["delta"])) {
    return undefined
  }
  const { delta } = choice
  const { content } = delta
  if (!Predicate.isString(content)) return undefined
  for (const key in delta) if (!beside.has(key) && !isEmpty(delta[key])) return undefined
  return content
}
