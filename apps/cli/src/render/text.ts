// Everything but a tab and the end of a line could move the cursor, hide text or change the terminal.
const control = /[^\P{Cc}\t\n]/gu

const picture = (character: string): string => {
  const code = character.charCodeAt(0)
  if (code === 0x0d) return ""
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd"
}

/** Text somebody else wrote, made harmless for a terminal: control characters are shown, not obeyed. */
export const harmless = (text: string): string => text.replace(control, picture)

/** Text on one line, cut to at most `limit` characters. */
export const oneLine = (text: string, limit = 160): string => {
  // No more of a long text is looked at than can be shown, blanks taken out.
  const flat = harmless(text.slice(0, limit * 8))
    .replace(/\s+/g, " ")
    .trim()
  const characters = Array.from(flat)
  const cut = characters.length > limit || text.length > limit * 8
  return cut ? `${characters.slice(0, limit - 1).join("")}…` : flat
}

/** Columns of text, each as wide as its widest cell. */
export const columns = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const widths: Array<number> = []
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  return rows.map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))))
}

/** `1 turn`, `2 turns`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
