import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url))

/** What became of a run of the program. */
export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Standard input, whole; without it there is nothing on it. */
  readonly stdin?: string
  /** Standard input stays open, to be written to. */
  readonly typing?: boolean
}

/** A run of the program that may still be going on. */
export interface Run {
  readonly child: ChildProcess
  /** Writes to its standard input. */
  readonly type: (text: string) => void
  /** Settles when this text has been written to standard output (or error). Fails when the program ends without it. */
  readonly saw: (text: string | RegExp, where?: "out" | "err") => Promise<string>
  readonly done: Promise<Outcome>
}

// Nothing of the machine the tests run on: no token, no keys, no colours.
const cleanEnv = (env: Readonly<Record<string, string>>) => ({ PATH: process.env["PATH"] ?? "", ...env })

/** Starts the real program. */
export const start = (args: ReadonlyArray<string>, options: RunOptions = {}): Run =>
  startProcess(process.execPath, [program, ...args], options)

/** Starts any process, and listens to it. */
export const startProcess = (file: string, args: ReadonlyArray<string>, options: RunOptions = {}): Run => {
  const child = spawn(file, args, {
    env: cleanEnv(options.env ?? {}),
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd })
  })
  const said = { out: "", err: "" }
  const waiting = new Set<() => void>()
  const hear = (to: "out" | "err") => (text: string) => {
    said[to] += text
    for (const look of waiting) look()
  }
  child.stdout.setEncoding("utf8").on("data", hear("out"))
  child.stderr.setEncoding("utf8").on("data", hear("err"))
  // A program that does not read its input closes it under us.
  child.stdin.on("error", () => {})
  if (options.typing !== true) child.stdin.end(options.stdin ?? "")
  const done = once(child, "close").then(([code, signal]) => ({ code, signal, ...said }))
  const saw = (text: string | RegExp, where: "out" | "err" = "out") =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = typeof text === "string" ? said[where].includes(text) : text.test(said[where])
        if (!found) return
        waiting.delete(look)
        resolve(said[where])
      }
      waiting.add(look)
      look()
      done.then((outcome) => {
        if (waiting.delete(look)) reject(new Error(`ended without ${String(text)}: ${JSON.stringify(outcome)}`))
      })
    })
  return { child, type: (text) => child.stdin.write(text), saw, done }
}

/** Runs the real program to its end. */
export const run = (args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Outcome> =>
  start(args, options).done

/** What the lines of `--json` say. */
export const jsonLines = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** An address at which nobody listens. */
export const nowhere = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

/** A folder of a test's own. */
export const temporaryFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "harness-cli-"))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}
