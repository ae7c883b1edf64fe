import { type ChildProcess, fork, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { request } from "node:http"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The admin's token of every server that is measured. */
export const TOKEN = "bench-token-of-an-admin"

const cli = fileURLToPath(new URL("../../apps/cli/dist/main.js", import.meta.url))
const ownServer = fileURLToPath(new URL("./children/serve.js", import.meta.url))

const measure = new URL("./children/measure.js", import.meta.url).href
const hello = fileURLToPath(new URL("./children/hello.js", import.meta.url))

const exited = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once("exit", () => resolve())
  })

/** A port that was free a moment ago. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() =>
        address === null || typeof address === "string" ? reject(new Error("no port")) : resolve(address.port)
      )
    })
  })

const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const ask = request(url, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    ask.on("error", () => resolve(false))
    ask.end()
  })

/** Asks until there is an answer. */
export const untilAnswers = async (url: string, isGone: () => boolean = () => false): Promise<void> => {
  while (!(await answers(url))) {
    if (isGone()) throw new Error(`nothing will answer at ${url}`)
    await new Promise((resolve) => setTimeout(resolve, 4))
  }
}

/** A process that is measured. */
export interface Running {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

export interface ServerOptions {
  readonly folder: string
  readonly modelUrl?: string | undefined
  readonly profile?: string | undefined
  /** Where its memory is written when somebody asks (`held`). */
  readonly measureFile?: string
}

/** Our server, as a user starts it, on a folder of its own; up when its health is. */
export const startServer = async ({ folder, measureFile, modelUrl, profile }: ServerOptions): Promise<Running> => {
  const port = await freePort()
  const root = join(folder, "root")
  mkdirSync(root, { recursive: true })
  const program = existsSync(cli) ? [cli, "server"] : [ownServer]
  const flags = profile === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profile]
  const measured = measureFile === undefined ? [] : ["--import", measure]
  const child = spawn(process.execPath, [...flags, ...measured, ...program], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      HARNESS_PORT: String(port),
      HARNESS_DATA: join(folder, "data"),
      HARNESS_ROOT: root,
      HARNESS_TOKEN: TOKEN,
      ...(measureFile === undefined ? {} : { MEASURE_FILE: measureFile }),
      ...(modelUrl === undefined
        ? {}
        : { OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_API_KEY: "bench", HARNESS_MODEL: "openai/bench" })
    }
  })
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-10_000)
  })
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(`${url}/v1/health`, () => child.exitCode !== null).catch((error) => {
    throw new Error(`${error}\n${log}`)
  })
  return {
    url,
    pid: child.pid ?? 0,
    stop: () => {
      child.kill("SIGTERM")
      return exited(child)
    }
  }
}

/** The plain node:http process that start and idle memory are compared with. */
export const startPlain = async (): Promise<Running> => {
  const port = await freePort()
  const child = spawn(process.execPath, [hello, String(port)], { stdio: "ignore" })
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(url, () => child.exitCode !== null)
  return {
    url,
    pid: child.pid ?? 0,
    stop: () => {
      child.kill("SIGTERM")
      return exited(child)
    }
  }
}

/** A process of this package that is told things and answers, one line of JSON each. */
export interface Child<In, Out> extends Running {
  readonly ask: (message: In) => Promise<Out>
}

/** Starts `children/<name>.js`. Its first word is its URL, empty when it serves nothing. */
export const startChild = async <In = never, Out = never>(
  name: string,
  args: ReadonlyArray<string> = [],
  profile?: string
): Promise<Child<In, Out>> => {
  const child = fork(fileURLToPath(new URL(`./children/${name}.js`, import.meta.url)), args, {
    execArgv: profile === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profile]
  })
  const said = () =>
    new Promise<string>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`${name} ended with ${code}`))
      child.once("exit", ended)
      child.once("message", (message) => {
        child.off("exit", ended)
        resolve(String(message))
      })
    })
  const url = await said()
  return {
    url,
    pid: child.pid ?? 0,
    ask: async (message) => {
      child.send(JSON.stringify(message))
      const answer: Out = JSON.parse(await said())
      return answer
    },
    stop: () => {
      child.kill("SIGTERM")
      return exited(child)
    }
  }
}

const CLOCK_TICK_MILLIS = 10

/** CPU time a process has used, user and system together, in milliseconds. */
export const cpuMillis = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MILLIS
}

/** Memory a process holds, in MiB. */
export const residentMiB = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1]) / 1024
}
