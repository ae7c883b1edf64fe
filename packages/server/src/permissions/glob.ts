/** `star`: any text. `folders`: nothing, or any text that ends in a slash. */
type Token = { readonly kind: "char"; readonly char: string } | { readonly kind: "one" | "star" | "folders" }

const tokenize = (glob: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  const chars = Array.from(glob)
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? ""
    const next = chars[at + 1]
    if (char === "\\" && next !== undefined) {
      tokens.push({ kind: "char", char: next })
      at += 1
    } else if (char === "*") {
      const begins = at === 0 || chars[at - 1] === "/"
      let end = at + 1
      while (chars[end] === "*") end += 1
      const folders = begins && end - at > 1 && chars[end] === "/"
      tokens.push({ kind: folders ? "folders" : "star" })
      at = folders ? end : end - 1
    } else {
      tokens.push(char === "?" ? { kind: "one" } : { kind: "char", char })
    }
  }
  return tokens
}

/** What does not stand for itself. */
const SIGNS = /[\\*?]/

// Our own, because `*` crosses separators, brackets and braces are common in commands and paths and stand for
// themselves, and no pattern may take more than (its length × the text's): the text is the model's.
const match = (tokens: ReadonlyArray<Token>, text: string): boolean => {
  const skippable = (token: Token) => token.kind === "star" || token.kind === "folders"
  // reached[i]: the first i tokens can stand for the text so far. open[i]: token i is a `folders` without its slash yet.
  let [reached, nextReached] = [new Uint8Array(tokens.length + 1), new Uint8Array(tokens.length + 1)]
  let [open, nextOpen] = [new Uint8Array(tokens.length), new Uint8Array(tokens.length)]
  reached[0] = 1
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index]
    if (token === undefined || reached[index] !== 1 || !skippable(token)) break
    reached[index + 1] = 1
  }
  for (const char of text) {
    nextReached.fill(0)
    nextOpen.fill(0)
    for (const [index, token] of tokens.entries()) {
      const here = reached[index] === 1
      if (token.kind === "folders") {
        if (here || open[index] === 1) nextOpen[index] = 1
        if ((here || open[index] === 1) && char === "/") nextReached[index + 1] = 1
      } else if (here && token.kind === "star") nextReached[index] = 1
      else if (here && (token.kind === "one" || (token.kind === "char" && token.char === char)))
        nextReached[index + 1] = 1
      if (nextReached[index] === 1 && skippable(token)) nextReached[index + 1] = 1
    }
    ;[reached, nextReached] = [nextReached, reached]
    ;[open, nextOpen] = [nextOpen, open]
  }
  return reached[tokens.length] === 1
}

/**
 * Does the whole text fit the glob? `*` is any text, slashes and line ends too; `**` and a slash any folders or none; `?` one
 * character; a backslash takes the next character as it is.
 */
export const matches = (glob: string, text: string): boolean =>
  glob === "*" || (SIGNS.test(glob) ? match(tokenize(glob), text) : glob === text)

/** The glob that fits this text alone. */
export const literal = (text: string): string => text.replace(/[\\*?]/g, "\\$&")

/** The text every match begins with. */
export const fixedPrefix = (glob: string): string => {
  let prefix = ""
  for (const token of tokenize(glob)) {
    if (token.kind !== "char") break
    prefix += token.char
  }
  return prefix
}
