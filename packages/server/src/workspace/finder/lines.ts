/** The lines of one file that fit, from the first on. */
export interface FileLines {
  /** From the searched folder. */
  readonly file: string
  readonly lines: ReadonlyArray<{
    /** From 1; absent where the line is too long to be told. */
    readonly line?: number
    readonly text: string
  }>
}

/** After these the rest of a file is not looked at. */
export const LINES_PER_FILE_MAX = 1_000
const EXCERPT_LENGTH = 300
const BEFORE_LENGTH = 100

/** A line, or of a long one what stands around the match that begins `at` this character. */
export const excerptOf = (line: string, at: number): string => {
  if (line.length <= EXCERPT_LENGTH) return line
  const from = Math.max(0, Math.min(at - BEFORE_LENGTH, line.length - EXCERPT_LENGTH))
  const end = from + EXCERPT_LENGTH
  return `${from > 0 ? "…" : ""}${line.slice(from, end)}${end < line.length ? "…" : ""}`
}
