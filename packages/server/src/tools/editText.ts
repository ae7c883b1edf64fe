/** What to find, and what to put there. */
export interface Edit {
  readonly find: string
  readonly replace: string
  readonly all: boolean
}

/** The text after an edit, or why there is none. */
export type Edited =
  | { readonly _tag: "Edited"; readonly text: string; readonly places: number }
  | { readonly _tag: "NotFound" }
  /** `count` stops at `COUNT_MAX`; `lines` names the first few. */
  | { readonly _tag: "NotUnique"; readonly count: number; readonly lines: ReadonlyArray<number> }
  | { readonly _tag: "NoChange" }
  | { readonly _tag: "TooLarge" }

/** Places are counted up to this. */
export const COUNT_MAX = 1_000
/** No edit makes a text longer than this. */
export const EDITED_MAX_LENGTH = 16_777_216
const LINES_SHOWN = 10
const BOM = "\uFEFF"

/** Places that overlap count each: either could be meant. */
const placesOf = (text: string, find: string): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (let at = text.indexOf(find); at !== -1 && places.length < COUNT_MAX; at = text.indexOf(find, at + 1)) {
    places.push(at)
  }
  return places
}

const linesOf = (text: string, places: ReadonlyArray<number>): ReadonlyArray<number> => {
  const lines: Array<number> = []
  let line = 1
  let at = 0
  for (const place of places.slice(0, LINES_SHOWN)) {
    for (let feed = text.indexOf("\n", at); feed !== -1 && feed < place; feed = text.indexOf("\n", at)) {
      line += 1
      at = feed + 1
    }
    lines.push(line)
  }
  return lines
}

const withoutBom = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text)

/** Does every line of it, one at least, end in CR LF? */
const isCrlf = (text: string): boolean => text.includes("\r\n") && !/(?<!\r)\n/.test(text)

const toCrlf = (text: string): string => text.replace(/(?<!\r)\n/g, "\r\n")

/**
 * Exact, and at one place unless all are meant. A file whose lines all end in CR LF keeps that: there, LF in the edit
 * stands for it. A byte order mark stays where it is.
 */
export const editText = (text: string, edit: Edit): Edited => {
  const marked = text.startsWith(BOM)
  const body = withoutBom(text)
  const crlf = isCrlf(body)
  const adapt = (part: string): string => {
    const bare = marked ? withoutBom(part) : part
    return crlf ? toCrlf(bare) : bare
  }
  const [find, replace] = [adapt(edit.find), adapt(edit.replace)]
  if (find === replace || find === "") return { _tag: "NoChange" }
  const places = placesOf(body, find)
  const [first] = places
  if (first === undefined) return { _tag: "NotFound" }
  const put = (changed: string, places: number): Edited => ({
    _tag: "Edited",
    text: marked ? BOM + changed : changed,
    places
  })
  if (edit.all) {
    const pieces = body.split(find)
    if (body.length + (pieces.length - 1) * (replace.length - find.length) > EDITED_MAX_LENGTH) {
      return { _tag: "TooLarge" }
    }
    return put(pieces.join(replace), pieces.length - 1)
  }
  if (places.length > 1) return { _tag: "NotUnique", count: places.length, lines: linesOf(body, places) }
  return put(body.slice(0, first) + replace + body.slice(first + find.length), 1)
}
