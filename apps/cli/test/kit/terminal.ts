import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { type Run, type RunOptions, startProcess } from "./cli.ts"

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url))
const onTerminal = fileURLToPath(new URL("onTerminal.py", import.meta.url))

/** Whether there is something that can open a terminal for a program: Python, which the systems we know have. */
export const hasTerminals =
  process.platform !== "win32" && spawnSync("python3", ["-c", "import pty, termios"]).status === 0

/** The real program on a terminal of its own. What it shows, on both streams, is its `out`. */
export const startOnTerminal = (
  args: ReadonlyArray<string>,
  { columns = 80, ...options }: RunOptions & { readonly columns?: number } = {}
): Run =>
  startProcess("python3", [onTerminal, String(columns), process.execPath, program, ...args], {
    ...options,
    env: { TERM: "xterm", NO_COLOR: "1", ...options.env },
    typing: true
  })

const moves = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*[A-Za-z]`, "g")

/** What a screen shows of a program's output: its words, without what moves the cursor, with plain ends of lines. */
export const screenOf = (out: string): string => out.replaceAll(moves, "").replaceAll(/\r+\n/g, "\n")
