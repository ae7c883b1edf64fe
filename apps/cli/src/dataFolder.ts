import { readFileSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import { Effect } from "effect"
import { Surroundings } from "./Surroundings.ts"

const fromHome = (path: string, home: string, cwd: string): string =>
  path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : isAbsolute(path) ? path : resolve(cwd, path)

const dataOfFile = (path: string): string | undefined => {
  try {
    const json: unknown = JSON.parse(readFileSync(path, "utf8"))
    return typeof json === "object" && json !== null && "data" in json && typeof json.data === "string"
      ? json.data
      : undefined
  } catch {
    return undefined
  }
}

/**
 * The data folder a server started here would use. The server checks all of its settings; here only this one counts, so
 * that a token can be added before a server may start at all.
 */
export const dataFolder = (flag: string | undefined): Effect.Effect<string, never, Surroundings> =>
  Effect.map(Surroundings, ({ cwd, env, home }) => {
    const given = flag ?? env["HARNESS_DATA"] ?? ""
    if (given !== "") return fromHome(given, home, cwd)
    const file = dataOfFile(join(cwd, "harness.json"))
    return file === undefined || file === "" ? join(home, ".harness") : fromHome(file, home, cwd)
  })
