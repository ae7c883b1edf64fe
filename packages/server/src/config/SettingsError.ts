import { Data } from "effect"

/** A setting that cannot be used. It names the key, where it was set and what is wrong, never the value. */
export class SettingsError extends Data.TaggedError("SettingsError")<{
  readonly key: string
  readonly source: string
  readonly reason: string
}> {
  override get message() {
    return `${this.key} (${this.source}): ${this.reason}`
  }
}
