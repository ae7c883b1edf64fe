import { isIdeographic } from "./markup/characters.ts"

/** What parts two pieces of speech, weakest first. */
const breaks = ["none", "space", "comma", "sentence"] as const
export type Break = (typeof breaks)[number]

const CLOSING = /^[\p{Pe}\p{Pf}"']$/u
const PUNCTUATION = /^\p{P}$/u
const NO_SPACE_BEFORE = /^[.,!?;:…]$/

/**
 * Text as it is spoken. A break is written with what comes after it, so none stands at an end, and two are one: the
 * stronger. A full stop or a comma is added where the text had none.
 */
export class Spoken {
  #out = ""
  #begun = false
  #pending: Break = "none"
  /** The last character, closing quotes and brackets aside. */
  #last = ""
  #dropped = false

  part(stronger: Break): void {
    if (breaks.indexOf(stronger) > breaks.indexOf(this.#pending)) this.#pending = stronger
  }

  /** Something stood here that is not spoken. */
  drop(): void {
    this.#dropped = true
  }

  say(character: string): void {
    if (this.#begun) this.#out += this.#between(character)
    this.#begun = true
    this.#pending = "none"
    this.#dropped = false
    this.#out += character
    if (!CLOSING.test(character)) this.#last = character
  }

  /** What can be said since the last time. */
  take(): string {
    const out = this.#out
    this.#out = ""
    return out
  }

  #between(next: string): string {
    const open = this.#last !== "" && !PUNCTUATION.test(this.#last) && !NO_SPACE_BEFORE.test(next)
    switch (this.#pending) {
      case "none":
        return ""
      case "space":
        return this.#dropped && NO_SPACE_BEFORE.test(next) ? "" : " "
      case "comma":
        return open ? ", " : " "
      case "sentence":
        if (!open) return " "
        return isIdeographic(this.#last) ? "。" : ". "
    }
  }
}
