import type { Dirent } from "node:fs"
import { opendir } from "node:fs/promises"
import type { CallResult, JsonObject } from "@harness/protocol"
import { Effect, Option, Schema } from "effect"
import { openJudged, pathOfOpen } from "../../workspace/openJudged.ts"
import { pathError, resolveToolPath } from "../../workspace/paths.ts"
import { errorResult, textResult } from "../results.ts"
import { type Tool, type ToolContext, ToolRefusal } from "../Tool.ts"
import { notJudged, pathResult } from "./judged.ts"

const ENTRIES_MAX = 1_000

const Arguments = Schema.Struct({ path: Schema.String })

const inputSchema = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1, description: "The folder, from the working directory; . is itself" }
  },
  required: ["path"],
  additionalProperties: false
}

const lineOf = (entry: Dirent): string => {
  const name = /\p{Cc}/u.test(entry.name) ? JSON.stringify(entry.name) : entry.name
  return name + (entry.isDirectory() ? "/" : entry.isSymbolicLink() ? "@" : "")
}

const entriesOf = (path: string) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => opendir(path), catch: pathError }),
      (folder) => Effect.promise(() => folder.close()).pipe(Effect.ignoreLogged)
    )
    const entries: Array<Dirent> = []
    while (entries.length <= ENTRIES_MAX) {
      const entry = yield* Effect.tryPromise({ try: () => folder.read(), catch: pathError })
      if (entry === null) break
      entries.push(entry)
    }
    return entries
  })

const run = (args: JsonObject, context: ToolContext): Effect.Effect<CallResult> =>
  Effect.gen(function* () {
    const { path } = yield* Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)
    const found = yield* resolveToolPath(context, path)
    const refused = notJudged(context, found)
    if (Option.isSome(refused)) return refused.value
    if (found.stats === undefined) return errorResult("path.not_found", "There is nothing at this path.")
    if (!found.stats.isDirectory())
      return errorResult("list.not_folder", "This is not a folder. Use read to see a file.")
    const handle = yield* openJudged(found)
    const entries = yield* entriesOf(yield* pathOfOpen(handle, found))
    if (entries.length === 0) return textResult("[the folder is empty]")
    const lines = entries.slice(0, ENTRIES_MAX).map(lineOf).sort()
    const more = entries.length > ENTRIES_MAX ? [`[… more than ${ENTRIES_MAX} entries; the rest is left out …]`] : []
    return textResult([...lines, ...more].join("\n"))
  }).pipe(
    Effect.catchTag("PathError", (error) => Effect.succeed(pathResult(error))),
    Effect.scoped
  )

/** Lists a folder: one entry a line, folders with `/`, links with `@` at their end. */
export const listTool: Tool = {
  name: "list",
  description: "Lists a folder: one entry a line; folders end in /, links in @.",
  inputSchema,
  readOnly: true,
  resource: (args, context) =>
    Effect.gen(function* () {
      const { path } = yield* Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)
      const found = yield* resolveToolPath(context, path)
      return {
        permission: "read",
        patterns: [found.pattern],
        title: `List ${found.pattern}`,
        detail: found.pattern,
        outside: found.outside
      }
    }).pipe(Effect.catchTag("PathError", (error) => new ToolRefusal({ result: pathResult(error) }))),
  run
}
