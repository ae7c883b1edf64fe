import type { CallResult, JsonObject } from "@harness/protocol"
import { Duration, Effect, Either, Option, Schema, Stream } from "effect"
import type { Finder } from "../../workspace/Finder.ts"
import { compileGlob, type PathGlob } from "../../workspace/finder/pathGlob.ts"
import { FILES_MAX } from "../../workspace/finder/walk.ts"
import { errorResult, textResult } from "../results.ts"
import type { Tool, ToolContext } from "../Tool.ts"
import { FINDING_MILLIS, findClaim, type Ground, isOwn, nameShown, note, openGround, Shown } from "./findIn.ts"
import { pathResult } from "./judged.ts"

const LINES_MAX = 400
/** Lines are counted up to this; then the search ends. */
const COUNTED_MAX = 10_000

const Arguments = Schema.Struct({
  pattern: Schema.String,
  path: Schema.optionalWith(Schema.String, { default: () => "." }),
  glob: Schema.optional(Schema.String)
})
type Arguments = typeof Arguments.Type

const inputSchema = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      description: "A regular expression, as ripgrep takes it, for one line; (?i) at its front ignores case"
    },
    path: {
      type: "string",
      minLength: 1,
      description: "The folder or file to look in; the working directory when left out"
    },
    glob: { type: "string", minLength: 1, description: "Only files whose names fit, like *.ts or src/**/*.md" }
  },
  required: ["pattern"],
  additionalProperties: false
}

const decode = (args: JsonObject) => Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)

/** What a search has come to so far: it may be cut off at any time. */
class Findings {
  readonly shown = new Shown(LINES_MAX)
  lines = 0
  files = 0
  forbidden = 0
  tooMany = false
  complete = false
}

const filesOf = (finder: Finder["Type"], ground: Ground, glob: PathGlob | undefined) =>
  ground.only === undefined
    ? finder.files(ground.folder, { hidden: glob?.hidden === true })
    : Effect.succeed({ names: [ground.only], more: false })

const look = (
  finder: Finder["Type"],
  { folder, only, prefix }: Ground,
  wanted: { readonly pattern: string; readonly glob: PathGlob | undefined },
  context: ToolContext,
  found: Findings
) =>
  Effect.gen(function* () {
    const { more, names } = yield* filesOf(finder, { folder, only, prefix }, wanted.glob)
    found.tooMany = more
    const fitting = names.filter((name) => wanted.glob?.matches(name) ?? true)
    const allowed = fitting.filter((name) => name === only || (context.readable?.(prefix + name) ?? true))
    found.forbidden = fitting.length - allowed.length
    yield* finder.lines(folder, allowed, wanted.pattern).pipe(
      Stream.filterEffect(({ file }) => isOwn(context, folder, file)),
      Stream.runForEachWhile(({ file, lines }) =>
        Effect.sync(() => {
          found.files += 1
          found.lines += lines.length
          for (const { line, text } of lines) {
            found.shown.add(`${nameShown(prefix + file)}:${line === undefined ? "" : `${line}:`} ${text}`)
          }
          return found.lines <= COUNTED_MAX
        })
      )
    )
    found.complete = found.lines <= COUNTED_MAX
  })

const resultOf = (found: Findings, late: boolean): CallResult => {
  const { complete, files, forbidden, lines, shown } = found
  const atLeast = complete ? "" : "at least "
  const notes = [
    ...(shown.leftOut > 0
      ? [note(`${atLeast}${shown.leftOut} more lines left out; a narrower pattern, path or glob shows them`)]
      : []),
    ...(late ? [note(`stopped after ${FINDING_MILLIS / 1_000} s; not everything was looked through`)] : []),
    ...(found.tooMany ? [note(`only ${FILES_MAX} files were looked at; a path further in sees the rest`)] : []),
    ...(forbidden > 0 ? [note(`files passed over, since permission rules do not let them be read: ${forbidden}`)] : [])
  ]
  const details = { lines, files, leftOut: shown.leftOut, complete: complete && !found.tooMany }
  const text = shown.lines.length === 0 ? ["[no line fits]", ...notes] : [...shown.lines, ...notes]
  return textResult(text.join("\n"), details)
}

const globOf = (glob: string | undefined): Either.Either<PathGlob | undefined, string> =>
  glob === undefined ? Either.right(undefined) : compileGlob(glob)

const search = (finder: Finder["Type"], { glob, path, pattern }: Arguments, context: ToolContext) =>
  Effect.gen(function* () {
    const names = globOf(glob)
    if (Either.isLeft(names)) return errorResult("glob.invalid_pattern", names.left)
    const ground = yield* openGround(context, path)
    if (!("folder" in ground)) return ground
    const found = new Findings()
    const ended = yield* look(finder, ground, { pattern, glob: names.right }, context, found).pipe(
      Effect.timeoutOption(Duration.millis(FINDING_MILLIS))
    )
    return resultOf(found, Option.isNone(ended))
  }).pipe(
    Effect.scoped,
    Effect.catchTags({
      PathError: (error) => Effect.succeed(pathResult(error)),
      FinderError: (error) => Effect.succeed(errorResult(error.code, error.message))
    })
  )

/** Finds lines in files. */
export const searchTool = (finder: Finder["Type"]): Tool => ({
  name: "search",
  description:
    "Finds lines that fit a regular expression, as path:line: text. What ignore files name, what is hidden and what is binary is passed over.",
  inputSchema,
  readOnly: true,
  timeoutMillis: FINDING_MILLIS + 5_000,
  resource: (args, context) =>
    Effect.flatMap(decode(args), ({ path, pattern }) =>
      findClaim(context, path, (place) => `Search ${place} for ${pattern}`)
    ),
  run: (args, context) => Effect.flatMap(decode(args), (wanted) => search(finder, wanted, context))
})
