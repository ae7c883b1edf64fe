import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff"
import { decode, headBytes, tailBytes } from "./text.ts"

/** Lines that may differ before a text counts as new altogether: finding out how costs their square. */
const DIFFERENCES_MAX = 1_000
const CONTEXT_LINES = 3
const NOTE_BYTES = 128

const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

const wholly = (before: string, after: string): string => {
  const [old, now] = [linesOf(before), linesOf(after)]
  const hunk = `@@ -${old.length === 0 ? 0 : 1},${old.length} +${now.length === 0 ? 0 : 1},${now.length} @@`
  return [hunk, ...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`), ""].join("\n")
}

/** What changes in a file, as a unified diff; empty when nothing does. `before` is undefined for a new file. */
export const unifiedDiff = (name: string, before: string | undefined, after: string): string => {
  if (before === after) return ""
  const oldName = before === undefined ? "/dev/null" : name
  const patch: string | undefined = createTwoFilesPatch(oldName, name, before ?? "", after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: DIFFERENCES_MAX,
    headerOptions: FILE_HEADERS_ONLY
  })
  if (patch !== undefined) return patch
  return `--- ${oldName}\n+++ ${name}\n${wholly(before ?? "", after)}`
}

/** The same text, or its front and end with a note of what is missing: at most `max` bytes as a JSON string. */
export const shortened = (text: string, max: number): string => {
  if (Buffer.byteLength(JSON.stringify(text)) <= max) return text
  const bytes = Buffer.from(text)
  const cut = (room: number): string => {
    const [head, tail] = [headBytes(bytes, room), tailBytes(bytes, room)]
    const note = `[… ${bytes.length - head.length - tail.length} bytes left out …]`
    return `${decode(head)}\n${note}\n${decode(tail)}`
  }
  let room = Math.max(0, Math.floor((Math.min(max, bytes.length) - NOTE_BYTES) / 2))
  while (room > 0 && Buffer.byteLength(JSON.stringify(cut(room))) > max) room = Math.floor(room * 0.8)
  return cut(room)
}
