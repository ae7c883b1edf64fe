// Everything but a tab and the end of a line could move the cursor, hide text or change the terminal.
const control = /[^\P{Cc}\t\n]/gu

const picture = (character: string): string => {
  const code = character.charCodeAt(0)
  if (code === 0x0d) return ""
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd"
}

/** Text somebody else wrote, made harmless for a terminal: control characters are shown, not obeyed. */
export const harmless = (text: string): string => text.replace(control, picture)

// What is not seen, or changes how its neighbours are seen: format and direction marks, fillers, blanks that are no space.
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

const named = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  if (code === 0x09 || code === 0x0a) return character
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? "\u2421" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`
}

/** Text somebody is to decide on: nothing in it is hidden, and nothing is obeyed. Lines stay lines. */
export const visible = (text: string): string => text.replace(unseen, named)

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

// Never less than a terminal may take.
const cells = (character: string): number => (character === "\t" ? 8 : wide.test(character) ? 2 : 1)

/** A line as rows of at most `width` cells, so that no terminal breaks it where it likes. */
export const rowsOf = (line: string, width: number): ReadonlyArray<string> => {
  if (line.length * 8 <= width) return [line]
  const rows: Array<string> = []
  let [row, taken] = ["", 0]
  for (const character of line) {
    const more = cells(character)
    if (row !== "" && taken + more > width) {
      rows.push(row)
      row = ""
      taken = 0
    }
    row += character
    taken += more
  }
  return [...rows, row]
}

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
