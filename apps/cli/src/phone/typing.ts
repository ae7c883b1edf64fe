/** What a key does to what is being typed. */
export type Typed =
  | { readonly _tag: "Line"; readonly text: string }
  | { readonly _tag: "Said"; readonly text: string }
  | { readonly _tag: "Gone" }

const CTRL_D = "\u0004"
const CTRL_U = "\u0015"
const BACKSPACES = ["\u007f", "\b"]

// An arrow or function key: what comes after Escape is no text.
const sequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gu")

/** Takes keys into the line, one after the other: a line ends with Enter, and Ctrl-D on an empty one is the end. */
export const type = (before: string, keys: string): ReadonlyArray<Typed> => {
  const typed: Array<Typed> = []
  let line = before
  for (const key of keys.replaceAll(sequence, "").replaceAll("\r\n", "\r")) {
    if (key === "\r" || key === "\n") {
      typed.push({ _tag: "Said", text: line })
      line = ""
    } else if (key === CTRL_D) {
      if (line === "") typed.push({ _tag: "Gone" })
    } else {
      const next = BACKSPACES.includes(key)
        ? [...line].slice(0, -1).join("")
        : key === CTRL_U
          ? ""
          : line + printable(key)
      if (next !== line) typed.push({ _tag: "Line", text: next })
      line = next
    }
  }
  return typed
}

const printable = (key: string): string => (/\p{Cc}/u.test(key) ? "" : key)
