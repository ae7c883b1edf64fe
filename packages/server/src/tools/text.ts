import { Predicate } from "effect"

/** The same text without lone surrogates: each becomes U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\uFFFD")

/** The same JSON value with every text in it, keys too, well-formed. */
export const wellFormedJson = (value: unknown): unknown => {
  if (typeof value === "string") return wellFormed(value)
  if (Array.isArray(value)) return value.map(wellFormedJson)
  if (!Predicate.isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [wellFormed(key), wellFormedJson(member)]))
}

const isInsideCharacter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** At most `max` bytes from the front of UTF-8, ending between two characters. */
export const headBytes = (bytes: Uint8Array, max: number): Uint8Array => {
  if (bytes.length <= max) return bytes
  let end = max
  while (end > 0 && isInsideCharacter(bytes[end])) end -= 1
  return bytes.subarray(0, end)
}

/** At most `max` bytes from the end of UTF-8, beginning between two characters. */
export const tailBytes = (bytes: Uint8Array, max: number): Uint8Array => {
  if (bytes.length <= max) return bytes
  let start = bytes.length - max
  while (start < bytes.length && isInsideCharacter(bytes[start])) start += 1
  return bytes.subarray(start)
}

const SNIFFED_BYTES = 8_192
const PLAIN_CONTROLS = "\t\n\v\f\r\b\u001b"

/** Bytes that are not text: a NUL, or much that is neither UTF-8 nor printable, near the front. */
export const looksBinary = (bytes: Uint8Array): boolean => {
  const front = headBytes(bytes, SNIFFED_BYTES)
  if (front.includes(0)) return true
  const chars = Array.from(decode(front))
  const strange = chars.filter((char) => char === "\uFFFD" || (char < " " && !PLAIN_CONTROLS.includes(char))).length
  return strange > 16 && strange > chars.length / 10
}

/** UTF-8 to text; what is no UTF-8 becomes U+FFFD. */
export const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
