import { Data } from "effect"

const MESSAGE_MAX_LENGTH = 1_000

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Why nothing could be looked for. */
export class FinderError extends Data.TaggedError("FinderError")<{
  readonly code: "search.invalid_pattern" | "search.failed"
  readonly message: string
}> {
  /** The regular expression is wrong, as its engine tells it. */
  static pattern(thrown: unknown): FinderError {
    const message = messageOf(thrown).trim().slice(0, MESSAGE_MAX_LENGTH)
    return new FinderError({ code: "search.invalid_pattern", message: `The pattern cannot be read: ${message}` })
  }
}
