import type { CallResult, JsonObject } from "@harness/protocol"
import { Duration, Effect, Either, Option, Schema } from "effect"
import type { Finder } from "../../workspace/Finder.ts"
import { compileGlob, type PathGlob } from "../../workspace/finder/pathGlob.ts"
import { FILES_MAX } from "../../workspace/finder/walk.ts"
import { errorResult, textResult } from "../results.ts"
import type { Tool, ToolContext } from "../Tool.ts"
import { FINDING_MILLIS, findClaim, type Ground, isHere, nameShown, note, openGround, Shown } from "./findIn.ts"
import { pathResult } from "./judged.ts"

const NAMES_MAX = 1_000

const Arguments = Schema.Struct({
  pattern: Schema.String,
  path: Schema.optionalWith(Schema.String, { default: () => "." })
})

const inputSchema = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      description: "A glob like src/**/*.ts or *.{js,ts}; without a slash it is about names in any folder"
    },
    path: { type: "string", minLength: 1, description: "The folder to look in; the working directory when left out" }
  },
  required: ["pattern"],
  additionalProperties: false
}

const decode = (args: JsonObject) => Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)

const named = (finder: Finder["Type"], glob: PathGlob, { folder, prefix }: Ground) =>
  Effect.gen(function* () {
    const { more, names } = yield* finder.files(folder, { hidden: glob.hidden })
    const fitting = names.filter((name) => glob.matches(name))
    const first = yield* Effect.filter(fitting.slice(0, NAMES_MAX), (name) => isHere(folder, name), { concurrency: 16 })
    const shown = new Shown(NAMES_MAX)
    for (const name of [...first, ...fitting.slice(NAMES_MAX)]) shown.add(nameShown(prefix + name))
    const notes = [
      ...(shown.leftOut > 0 ? [note(`${shown.leftOut} more left out; a narrower pattern or path shows them`)] : []),
      ...(more ? [note(`only ${FILES_MAX} files were looked at; a path further in sees the rest`)] : [])
    ]
    if (shown.lines.length === 0 && notes.length === 0) return textResult("[no file fits]", { files: 0, leftOut: 0 })
    const details = { files: shown.lines.length, leftOut: shown.leftOut }
    return textResult([...shown.lines, ...notes].join("\n"), details)
  })

const late = errorResult(
  "glob.timeout",
  `The folder could not be looked through in ${FINDING_MILLIS / 1_000} s. Give a path further in.`
)

const run =
  (finder: Finder["Type"]) =>
  (args: JsonObject, context: ToolContext): Effect.Effect<CallResult> =>
    Effect.gen(function* () {
      const { path, pattern } = yield* decode(args)
      const glob = compileGlob(pattern)
      if (Either.isLeft(glob)) return errorResult("glob.invalid_pattern", glob.left)
      const ground = yield* openGround(context, path)
      if (!("folder" in ground)) return ground
      if (ground.only !== undefined) return errorResult("glob.not_folder", "This is not a folder.")
      const found = yield* named(finder, glob.right, ground).pipe(Effect.timeoutOption(Duration.millis(FINDING_MILLIS)))
      return Option.getOrElse(found, () => late)
    }).pipe(
      Effect.scoped,
      Effect.catchTags({
        PathError: (error) => Effect.succeed(pathResult(error)),
        FinderError: (error) => Effect.succeed(errorResult(error.code, error.message))
      })
    )

/** Finds files by their names. */
export const globTool = (finder: Finder["Type"]): Tool => ({
  name: "glob",
  description:
    "Finds files by name, sorted, from the working directory. What ignore files name is left out, and so is what is hidden unless the pattern names it.",
  inputSchema,
  readOnly: true,
  timeoutMillis: FINDING_MILLIS + 5_000,
  resource: (args, context) =>
    Effect.flatMap(decode(args), ({ path, pattern }) =>
      findClaim(context, path, (place) => `Find ${pattern} in ${place}`)
    ),
  run: run(finder)
})
