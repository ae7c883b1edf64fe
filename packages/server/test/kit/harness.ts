import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const script = process.env["HARNESS_TEST_SERVER"] ?? fileURLToPath(new URL("./serve.mjs", import.meta.url))
const TOKEN = "kit-token-of-an-admin"

/** A server in a process of its own, on a data folder that outlives it. */
export interface Harness {
  readonly url: string
  readonly token: string
  readonly pid: number
  /** Everything it wrote to stderr. */
  readonly log: () => string
  /** Settles when the process has ended, with the signal that ended it. */
  readonly gone: Promise<NodeJS.Signals | null>
  /** SIGKILL, and gone. */
  readonly kill: () => Promise<void>
  /** SIGTERM; answers the exit code. */
  readonly stop: () => Promise<number | null>
}

export interface HarnessOptions {
  /** Where its databases are. */
  readonly data: string
  /** Where sessions work. */
  readonly root: string
  /** A scripted model's URL; without it the demo model answers. */
  readonly openaiBaseUrl?: string
  readonly env?: Readonly<Record<string, string>>
  /** Kills it, also while it starts. */
  readonly signal?: AbortSignal
}

const exited = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode)
    else child.once("exit", (code) => resolve(code))
  })

/** Two folders of one test: one for data, one to work in. */
export const folders = (): { readonly data: string; readonly root: string; readonly remove: () => void } => {
  const data = mkdtempSync(join(tmpdir(), "harness-data-"))
  const root = mkdtempSync(join(tmpdir(), "harness-root-"))
  return {
    data,
    root,
    remove: () => {
      rmSync(data, { recursive: true, force: true })
      rmSync(root, { recursive: true, force: true })
    }
  }
}

/** Starts a server and waits until its port is open. */
export const startHarness = async (options: HarnessOptions): Promise<Harness> => {
  const child = spawn(process.execPath, [script], {
    cwd: options.data,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      HARNESS_PORT: "0",
      HARNESS_DATA: options.data,
      HARNESS_ROOT: options.root,
      HARNESS_TOKEN: TOKEN,
      ...(options.openaiBaseUrl === undefined
        ? {}
        : {
            OPENAI_BASE_URL: options.openaiBaseUrl,
            OPENAI_API_KEY: "kit-openai-key",
            HARNESS_MODEL: "openai/scripted"
          }),
      ...options.env
    }
  })
  options.signal?.addEventListener("abort", () => child.kill("SIGKILL"))
  let out = ""
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
      const end = out.indexOf("\n")
      if (end >= 0) resolve(JSON.parse(out.slice(0, end)).url)
    })
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${log}`)))
  })
  return {
    url,
    token: TOKEN,
    pid: child.pid ?? 0,
    log: () => log,
    gone: exited(child).then(() => child.signalCode),
    kill: async () => {
      child.kill("SIGKILL")
      await exited(child)
    },
    stop: () => {
      child.kill("SIGTERM")
      return exited(child)
    }
  }
}
