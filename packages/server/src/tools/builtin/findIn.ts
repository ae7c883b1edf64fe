import type { Stats } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { CallResult } from "@harness/protocol"
import { Effect, Option, type Scope } from "effect"
import { type OpenFolder, openFolder } from "../../workspace/openFolder.ts"
import { locate, PathError, resolveToolPath } from "../../workspace/paths.ts"
import { type ToolClaim, type ToolContext, ToolRefusal } from "../Tool.ts"
import { notJudged, pathResult } from "./judged.ts"

/** Looking through files takes no longer; what was found by then is told. */
export const FINDING_MILLIS = 30_000
/** What a result shows, in bytes. */
export const SHOWN_MAX_BYTES = 24_576

/** Where to look: a folder held open, and the one file in it when the path was a file's. */
export interface Ground {
  readonly folder: OpenFolder
  readonly only: string | undefined
  /** What stands before names from the folder, so that `read` takes them. */
  readonly prefix: string
}

/** What a call that looks at a path would touch. */
export const findClaim = (
  context: ToolContext,
  path: string,
  title: (pattern: string) => string
): Effect.Effect<ToolClaim, ToolRefusal> =>
  resolveToolPath(context, path).pipe(
    Effect.map(({ outside, pattern }) => ({
      permission: "read",
      patterns: [pattern],
      title: title(pattern),
      detail: title(pattern),
      outside
    })),
    Effect.catchTag("PathError", (error) => new ToolRefusal({ result: pathResult(error) }))
  )

const prefixOf = (pattern: string): string => (pattern === "." ? "" : pattern.endsWith("/") ? pattern : `${pattern}/`)

/** Opens what the path leads to, if it is still what was judged. */
export const openGround = (
  context: ToolContext,
  path: string
): Effect.Effect<Ground | CallResult, PathError, Scope.Scope> =>
  Effect.gen(function* () {
    const found = yield* resolveToolPath(context, path)
    const refused = notJudged(context, found)
    if (Option.isSome(refused)) return refused.value
    if (found.stats === undefined) {
      return yield* new PathError({ code: "path.not_found", message: "There is nothing at this path." })
    }
    if (found.stats.isDirectory()) {
      return { folder: yield* openFolder(found.path), only: undefined, prefix: prefixOf(found.pattern) }
    }
    const folder = yield* openFolder(dirname(found.path))
    return { folder, only: basename(found.path), prefix: prefixOf(dirname(found.pattern)) }
  })

/** The file of this name in this very folder; none when a link was put in its way meanwhile. */
const fileHere = (folder: OpenFolder, name: string): Effect.Effect<Option.Option<Stats>> =>
  locate(folder.path, name).pipe(
    Effect.map(({ path, stats }) =>
      path === join(folder.path, name) && stats?.isFile() === true ? Option.some(stats) : Option.none()
    ),
    Effect.orElseSucceed(() => Option.none())
  )

/** Does the name still lead to a file in this folder? */
export const isHere = (folder: OpenFolder, name: string): Effect.Effect<boolean> =>
  Effect.map(fileHere(folder, name), Option.isSome)

/** And is that its only name? Where a second one (a hard link) is, nobody can tell: it counts as outside. */
export const isOwn = (context: ToolContext, folder: OpenFolder, name: string): Effect.Effect<boolean> =>
  Effect.map(
    fileHere(folder, name),
    Option.exists(({ nlink }) => nlink === 1 || context.judged?.outside === true)
  )

/** A name as a line of output can carry it. */
export const nameShown = (name: string): string => (/\p{Cc}/u.test(name) ? JSON.stringify(name) : name)

/** Lines up to a number and a size; the rest is counted. */
export class Shown {
  readonly lines: Array<string> = []
  leftOut = 0
  private bytes = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  add(line: string): void {
    const size = Buffer.byteLength(line) + 1
    if (this.leftOut > 0 || this.lines.length >= this.most || this.bytes + size > SHOWN_MAX_BYTES) this.leftOut += 1
    else {
      this.lines.push(line)
      this.bytes += size
    }
  }
}

/** A note beside the lines. */
export const note = (text: string): string => `[… ${text} …]`
