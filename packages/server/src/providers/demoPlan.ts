import { modelFailure } from "./failure.ts"
import type { ModelFailure } from "./Model.ts"

/** One thing the demo model does. */
export type Act =
  | { readonly _tag: "Say"; readonly deltas: ReadonlyArray<string>; readonly everyMillis: number }
  | { readonly _tag: "Think"; readonly text: string }
  | { readonly _tag: "Call"; readonly name: string; readonly argumentsText: string }
  | { readonly _tag: "Refuse"; readonly text: string }
  | { readonly _tag: "Wait"; readonly millis: number }
  | { readonly _tag: "Fail"; readonly failure: ModelFailure }

const WORDS_MAX = 100_000
const ECHO_PIECES = 4

const say = (deltas: ReadonlyArray<string>, everyMillis = 0): Act => ({ _tag: "Say", deltas, everyMillis })

/** A text in a few deltas; pieces end between characters. */
export const inPieces = (text: string): Act => {
  const characters = Array.from(text)
  const size = Math.max(1, Math.ceil(characters.length / ECHO_PIECES))
  const pieces: Array<string> = []
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""))
  return say(pieces)
}

const failures = {
  transient: () => modelFailure("transient", "demo.transient", "The demo model failed, as asked; it may pass."),
  rate: () => modelFailure("rate_limited", "demo.rate_limited", "The demo model asks for fewer requests, as asked."),
  auth: () => modelFailure("auth_expired", "demo.auth", "The demo model refused the credentials, as asked."),
  overflow: () => modelFailure("context_overflow", "demo.context_overflow", "The conversation is too long, as asked."),
  permanent: () => modelFailure("permanent", "demo.failed", "The demo model failed, as asked.")
}

const use = /^use ([A-Za-z0-9_.:-]+) (\{.*)$/i

const calls = (text: string): ReadonlyArray<Act> | undefined => {
  const lines = text.split("\n").map((line) => line.trim())
  const said: Array<string> = []
  const called: Array<Act> = []
  for (const line of lines) {
    const match = use.exec(line)
    if (match === null) said.push(line)
    else called.push({ _tag: "Call", name: match[1] ?? "", argumentsText: match[2] ?? "" })
  }
  if (called.length === 0) return undefined
  const words = said.filter((line) => line !== "").join("\n")
  return words === "" ? called : [inPieces(words), ...called]
}

const numbers = (match: RegExpExecArray): ReadonlyArray<number> => match.slice(1).map((digits) => Number(digits ?? 0))

/** What the demo model does when it is told `prompt`. */
export const planFor = (prompt: string): ReadonlyArray<Act> => {
  const text = prompt.trim()
  const fail = /^fail(?: (transient|rate|auth|overflow))?$/i.exec(text)
  if (fail !== null) {
    const kind = fail[1]?.toLowerCase()
    const make = Object.entries(failures).find(([key]) => key === kind)?.[1] ?? failures.permanent
    return [{ _tag: "Fail", failure: make() }]
  }
  const wait = /^wait (\d{1,7})(?:\s+([\s\S]*))?$/i.exec(text)
  if (wait !== null) {
    const rest = wait[2] ?? ""
    return [{ _tag: "Wait", millis: Number(wait[1]) }, ...(rest === "" ? [inPieces(text)] : planFor(rest))]
  }
  const think = /^think\s+([\s\S]+)$/i.exec(text)
  if (think !== null) {
    const rest = think[1] ?? ""
    return [{ _tag: "Think", text: `Thinking about: ${rest}` }, ...planFor(rest)]
  }
  const write = /^write (\d{1,6}) words?(?: every (\d{1,6}) ?ms)?$/i.exec(text)
  if (write !== null) {
    const [count = 0, everyMillis = 0] = numbers(write)
    const words = Array.from({ length: Math.min(count, WORDS_MAX) }, (_, at) => (at === 0 ? "w1" : ` w${at + 1}`))
    return [say(words, everyMillis)]
  }
  if (/^refuse$/i.test(text)) return [{ _tag: "Refuse", text: "I will not do that." }]
  return calls(text) ?? [inPieces(text === "" ? "(no text)" : text)]
}
