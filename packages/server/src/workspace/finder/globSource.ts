import { RE2JS } from "re2js"

const inClass = (char: string): string => (/[\\[\]^&~-]/.test(char) ? `\\${char}` : char)

/** A class from its `[` on: as an expression, and where it ends; none when it has no end. */
const readClass = (glob: string, from: number): { readonly source: string; readonly end: number } | undefined => {
  let at = from + 1
  const negated = glob[at] === "!" || glob[at] === "^"
  if (negated) at += 1
  const first = at
  let inner = ""
  while (at < glob.length && (glob[at] !== "]" || at === first)) {
    const next = glob[at + 1]
    if (glob[at] === "\\" && next !== undefined) {
      inner += inClass(next)
      at += 2
    } else if (glob[at] === "-" && at > first && next !== "]") {
      inner += "-"
      at += 1
    } else {
      inner += inClass(glob[at] ?? "")
      at += 1
    }
  }
  return at < glob.length ? { source: negated ? `[^/${inner}]` : `[${inner}]`, end: at } : undefined
}

/** Braces that have an end, by where they begin. */
const wholeBraces = (glob: string): ReadonlySet<number> => {
  const whole = new Set<number>()
  const open: Array<number> = []
  for (let at = 0; at < glob.length; at += 1) {
    if (glob[at] === "\\") at += 1
    else if (glob[at] === "[") at = readClass(glob, at)?.end ?? at
    else if (glob[at] === "{") open.push(at)
    else if (glob[at] === "}") {
      const begin = open.pop()
      if (begin !== undefined) whole.add(begin)
    }
  }
  return whole
}

/**
 * A glob as the source of an expression: `*` and `?` stay in a name, `**` is any folders, `[a-z]`, `{a,b}`; what has no
 * end stands for itself.
 */
export const globSource = (glob: string): string => {
  const braces = wholeBraces(glob)
  let source = ""
  let depth = 0
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at] ?? ""
    const next = glob[at + 1]
    const found = char === "[" ? readClass(glob, at) : undefined
    if (char === "\\" && next !== undefined) {
      source += RE2JS.quote(next)
      at += 1
    } else if (char === "*") {
      const begins = at === 0 || "/{,".includes(glob[at - 1] ?? "")
      let end = at + 1
      while (glob[end] === "*") end += 1
      const whole = begins && end - at > 1
      if (whole && glob[end] === "/") {
        source += "(?:[^/]+/)*"
        end += 1
      } else source += whole && (glob[end] === undefined || "},".includes(glob[end] ?? "")) ? ".*" : "[^/]*"
      at = end - 1
    } else if (char === "?") source += "[^/]"
    else if (found !== undefined) {
      source += found.source
      at = found.end
    } else if (char === "{" && braces.has(at)) {
      source += "(?:"
      depth += 1
    } else if (char === "}" && depth > 0) {
      source += ")"
      depth -= 1
    } else source += char === "," && depth > 0 ? "|" : RE2JS.quote(char)
  }
  return source
}
