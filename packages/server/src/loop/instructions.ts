import { open, realpath } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { Effect } from "effect"
import { Home } from "../storage/Home.ts"
import { isInside } from "../workspace/paths.ts"

/** Files that say how to work in a folder. */
const FILE = "AGENTS.md"
/** All of them together; what is more is left out, the farthest first. */
const BYTES_MAX = 32_768

const foldersUpTo = (root: string, workdir: string): ReadonlyArray<string> => {
  const folders = [workdir]
  for (let at = workdir; at !== root && isInside(root, at); ) {
    at = dirname(at)
    folders.push(at)
  }
  return folders
}

/** A file of at most so many bytes, if it is there and inside the root, links followed. */
const readInside = (root: string, path: string, most: number) =>
  Effect.tryPromise(async () => {
    const real = await realpath(path)
    if (!isInside(root, real)) return ""
    const file = await open(real, "r")
    try {
      const { size } = await file.stat()
      if (size > most) return ""
      return (await file.readFile("utf8")).replace(/\p{Surrogate}/gu, "\uFFFD")
    } finally {
      await file.close()
    }
  }).pipe(Effect.orElseSucceed(() => ""))

/** What the AGENTS.md files from the workdir up to the server root say, the nearest last. */
export const instructionsOf = (workdir: string) =>
  Effect.gen(function* () {
    const { root } = yield* Home
    const found: Array<string> = []
    let left = BYTES_MAX
    for (const folder of foldersUpTo(root, join(root, workdir))) {
      const text = (yield* readInside(root, join(folder, FILE), left)).trim()
      if (text === "") continue
      left -= Buffer.byteLength(text)
      const name = join(relative(root, folder), FILE)
      found.unshift(`Instructions from ${name}:\n${text}`)
    }
    return found
  })
