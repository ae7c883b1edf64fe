import { Schema } from "effect"

/** A BCP 47 tag, as far as its looks go. */
export const LanguageTag = Schema.String.pipe(Schema.pattern(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/)).annotations({
  message: () => "must be a language tag such as en or de-DE"
})

const Words = Schema.String.pipe(Schema.filter((text) => text.trim() !== "" || "must not be blank"))

/** What is spoken without asking a model: one text, or one for each language, `default` among them. */
export const Line = Schema.Union(
  Words,
  Schema.Record({ key: LanguageTag, value: Words }).pipe(
    Schema.filter((texts) => Object.keys(texts).length > 0 || "must name a language")
  )
)
export type Line = typeof Line.Type

const plain = (tag: string): string => tag.toLowerCase().replaceAll("_", "-")
const primary = (tag: string): string => plain(tag).split("-")[0] ?? ""

/** `zh-Hant-TW`, `zh-Hant`, `zh`. */
const broader = (tag: string): ReadonlyArray<string> => {
  const subtags = plain(tag).split("-")
  return subtags.map((_, index) => subtags.slice(0, subtags.length - index).join("-"))
}

/**
 * A line in a language: its own text, or that of the nearest broader tag, or of a sister (`de-DE` for `de-AT`), or `default`,
 * or the first.
 */
export const lineOf = (line: Line, language?: string): string => {
  if (typeof line === "string") return line
  const texts = Object.entries(line)
  const first = (wanted: (tag: string) => boolean): string | undefined => texts.find(([tag]) => wanted(tag))?.[1]
  const asked = language === undefined || language === "" ? [] : broader(language)
  for (const tag of asked) {
    const text = first((key) => plain(key) === tag)
    if (text !== undefined) return text
  }
  const sister = asked.at(-1)
  return (
    (sister === undefined ? undefined : first((key) => primary(key) === sister)) ??
    first((key) => plain(key) === "default") ??
    first(() => true) ??
    ""
  )
}
