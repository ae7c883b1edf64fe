import type { ShellWord } from "./shellTree.ts"

/** What a command runs beside its own name: other names a rule may be about, and scripts in its arguments. */
export interface Hidden {
  readonly names: ReadonlyArray<string>
  readonly scripts: ReadonlyArray<string>
  /** It runs something nobody can know from the line. */
  readonly unknown: boolean
}

const SHELLS = new Set(["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh"])
const OPAQUE = new Set(["eval", "alias"])
const WRAPPERS = new Set(
  (
    "env command exec builtin nohup nice ionice timeout time stdbuf setsid xargs sudo doas su runuser chroot unshare " +
    "nsenter busybox toybox watch parallel strace ltrace script flock taskset chrt setarch"
  ).split(" ")
)
const EXEC_OPTIONS = new Set(["-exec", "-execdir", "-ok", "-okdir"])
const TAILS_MAX = 32

const NOTHING: Hidden = { names: [], scripts: [], unknown: false }
const UNKNOWN: Hidden = { names: [], scripts: [], unknown: true }

const join = (parts: ReadonlyArray<Hidden>): Hidden => ({
  names: parts.flatMap((part) => part.names),
  scripts: parts.flatMap((part) => part.scripts),
  unknown: parts.some((part) => part.unknown)
})

const textOf = (words: ReadonlyArray<ShellWord>): string => words.map((word) => word.text).join(" ")

const baseOf = (word: ShellWord | undefined): string => word?.value?.split("/").at(-1) ?? ""

const scriptIn = (word: ShellWord | undefined): Hidden =>
  word?.value === undefined ? UNKNOWN : { ...NOTHING, scripts: [word.value] }

/** `sh -c script`; a script from standard input is one nobody has seen; a script file is like any other program. */
const ofShell = (operands: ReadonlyArray<ShellWord>): Hidden => {
  for (let at = 0; at < operands.length; at += 1) {
    const value = operands[at]?.value
    if (value === undefined) return UNKNOWN
    if (!/^[-+]./.test(value)) return value === "-" ? UNKNOWN : NOTHING
    if (/^-[A-Za-z]*c/.test(value)) {
      const rest = operands.slice(at + 1)
      return scriptIn(
        /o/.test(value) ? rest[1] : rest.find((word) => word.value === undefined || !/^[-+]/.test(word.value))
      )
    }
    if (/^-[A-Za-z]*s/.test(value)) return UNKNOWN
    if (/^[-+][A-Za-z]*o$/.test(value)) at += 1
  }
  return UNKNOWN
}

const ofTrap = (operands: ReadonlyArray<ShellWord>): Hidden => {
  const [first, ...rest] = operands
  if (first === undefined) return NOTHING
  if (first.value === "--") return ofTrap(rest)
  if (first.value !== undefined && /^(-.?|\d*)$/.test(first.value)) return NOTHING
  return scriptIn(first)
}

const isPrelude = (word: ShellWord): boolean => /^(-|\w+=)/.test(word.value ?? word.text)

/** The command may begin at any word after the wrapper's name: which one, only the wrapper's options could tell. */
const ofWrapper = (operands: ReadonlyArray<ShellWord>): Hidden => {
  const tails = operands.slice(0, TAILS_MAX).map((_, at) => operands.slice(at))
  const first = operands.find((word) => !isPrelude(word))
  return join([
    { ...NOTHING, unknown: operands.length > TAILS_MAX || (first !== undefined && first.value === undefined) },
    ...tails.map((tail): Hidden => {
      const [head, next] = tail
      if (head === undefined) return NOTHING
      if (head.value === "-c" || head.value === "--command") return scriptIn(next)
      const sentence = head.value !== undefined && /\s/.test(head.value) ? [head.value] : []
      return join([
        { ...NOTHING, names: [textOf(tail), ...sentence] },
        SHELLS.has(baseOf(head)) ? ofShell(tail.slice(1)) : NOTHING,
        OPAQUE.has(baseOf(head)) ? UNKNOWN : NOTHING,
        ofPath(tail)
      ])
    })
  ])
}

const ofPath = (words: ReadonlyArray<ShellWord>): Hidden =>
  words[0]?.value?.includes("/") === true
    ? { ...NOTHING, names: [[baseOf(words[0]), ...words.slice(1).map((word) => word.text)].join(" ")] }
    : NOTHING

/** What else these words run. Made for refusing: it may name too much, and what it does not know it says so. */
export const hiddenIn = (words: ReadonlyArray<ShellWord>): Hidden => {
  const [name, ...operands] = words
  if (name === undefined) return NOTHING
  if (name.value === undefined) return UNKNOWN
  const base = baseOf(name)
  const byKind = OPAQUE.has(base)
    ? UNKNOWN
    : SHELLS.has(base)
      ? ofShell(operands)
      : base === "trap"
        ? ofTrap(operands)
        : WRAPPERS.has(base)
          ? ofWrapper(operands)
          : base === "find"
            ? join(
                operands.map((word, at) =>
                  EXEC_OPTIONS.has(word.value ?? "") ? ofWrapper(operands.slice(at + 1)) : NOTHING
                )
              )
            : NOTHING
  return join([ofPath(words), byKind])
}
