import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Run, type RunOptions, start, temporaryFolder } from "./cli.ts"

/** A real server, started by the program itself. */
export interface TestServer {
  readonly url: string
  readonly data: string
  /** The environment in which a command finds it. */
  readonly env: Readonly<Record<string, string>>
  readonly run: Run
  readonly stop: () => Promise<void>
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** The same data, on the same port. */
  readonly again: () => Promise<TestServer>
  readonly remove: () => Promise<void>
}

const startOn = async (
  folder: ReturnType<typeof temporaryFolder>,
  port: string,
  options: RunOptions
): Promise<TestServer> => {
  const data = join(folder.path, "data")
  const root = join(folder.path, "root")
  mkdirSync(root, { recursive: true })
  const run = start(["server", "--port", port, "--data", data, "--root", root], { cwd: folder.path, ...options })
  const banner = await run.saw(/http:\/\/\S+\n/)
  const url = /http:\/\/\S+/.exec(banner)?.[0] ?? ""
  const stop = async () => {
    if (run.child.exitCode === null && run.child.signalCode === null) run.child.kill("SIGTERM")
    await run.done
  }
  return {
    url,
    data,
    env: { HARNESS_URL: url, HARNESS_DATA: data },
    run,
    stop,
    kill: async () => {
      run.child.kill("SIGKILL")
      await run.done
    },
    again: () => startOn(folder, new URL(url).port, options),
    remove: async () => {
      await stop()
      folder.remove()
    }
  }
}

/** Starts a server on a free port, with data of its own. */
export const startServer = (options: RunOptions = {}): Promise<TestServer> => startOn(temporaryFolder(), "0", options)
