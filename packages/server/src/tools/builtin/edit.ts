import type { CallResult, JsonObject } from "@harness/protocol"
import { Effect, Either, Option, Schema } from "effect"
import type { OneAtATime } from "../../workspace/oneAtATime.ts"
import { type PathError, resolveToolPath, type ToolPath } from "../../workspace/paths.ts"
import { replaceFile } from "../../workspace/replaceFile.ts"
import { shortened, unifiedDiff } from "../diff.ts"
import { COUNT_MAX, type Edited, editText } from "../editText.ts"
import { errorResult, textResult } from "../results.ts"
import { type Tool, type ToolContext, ToolRefusal } from "../Tool.ts"
import { type Current, diffOf, readCurrent, shownToPerson, TEXT_MAX_BYTES } from "./fileChange.ts"
import { notJudged, pathResult } from "./judged.ts"

/** What the model is shown of the diff. */
const SHOWN_MAX_BYTES = 8_192

const Arguments = Schema.Struct({
  path: Schema.String,
  find: Schema.String,
  replace: Schema.String,
  all: Schema.optionalWith(Schema.Boolean, { default: () => false })
})
type Arguments = typeof Arguments.Type

const inputSchema = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1, description: "The file, from the working directory" },
    find: {
      type: "string",
      minLength: 1,
      description: "The text to replace, exactly as it is in the file; it must be there once, unless all is true"
    },
    replace: { type: "string", description: "What to put in its place" },
    all: { type: "boolean", description: "Replace it wherever it is" }
  },
  required: ["path", "find", "replace"],
  additionalProperties: false
}

const decode = (args: JsonObject) => Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)

type Done = Extract<Edited, { readonly _tag: "Edited" }>

const problem = (edited: Exclude<Edited, Done>): CallResult => {
  switch (edited._tag) {
    case "NotFound":
      return errorResult("edit.not_found", "The text to find is not in the file. Read the file and copy it exactly.", {
        count: 0
      })
    case "NoChange":
      return errorResult("edit.no_change", "What to find and what to put there are the same. Nothing was written.")
    case "TooLarge":
      return errorResult("edit.too_large", "The file would become too large. Nothing was written.")
    case "NotUnique": {
      const count = edited.count >= COUNT_MAX ? `at least ${COUNT_MAX}` : String(edited.count)
      const lines = `${edited.lines.join(", ")}${edited.count > edited.lines.length ? ", …" : ""}`
      return errorResult(
        "edit.not_unique",
        `The text to find is in the file ${count} times (on lines ${lines}). Give more of what stands around the one you mean, or all: true.`,
        { count: edited.count, lines: [...edited.lines] }
      )
    }
  }
}

const edited = (path: ToolPath, current: Current, args: Arguments): Either.Either<Done, CallResult> => {
  if (current._tag === "Nothing") {
    return Either.left(errorResult("path.not_found", "There is nothing at this path. Use write for a new file."))
  }
  if (path.stats?.isFile() !== true) return Either.left(errorResult("path.not_file", "This is not a regular file."))
  if (current._tag === "Bytes") {
    return Either.left(
      current.size > TEXT_MAX_BYTES
        ? errorResult("edit.too_large", `The file has ${current.size} bytes; at most ${TEXT_MAX_BYTES} can be edited.`)
        : errorResult("edit.not_text", "This is not a UTF-8 text file.")
    )
  }
  const change = editText(current.text, args)
  return change._tag === "Edited" ? Either.right(change) : Either.left(problem(change))
}

const edit = (args: Arguments, context: ToolContext): Effect.Effect<CallResult, PathError> =>
  Effect.gen(function* () {
    const found = yield* resolveToolPath(context, args.path)
    const refused = notJudged(context, found)
    if (Option.isSome(refused)) return refused.value
    const current = yield* readCurrent(found)
    const change = edited(found, current, args)
    if (Either.isLeft(change)) return change.left
    const { places, text } = change.right
    yield* replaceFile(found, Buffer.from(text))
    const kept = diffOf(found.pattern, current, text)
    const shown = typeof kept["diff"] === "string" ? `\n\n${shortened(kept["diff"], SHOWN_MAX_BYTES)}` : ""
    const where = places === 1 ? "at one place" : `at ${places} places`
    return textResult(`Edited ${found.pattern} ${where}.${shown}`, { path: found.pattern, places, ...kept })
  })

const run =
  (oneAtATime: OneAtATime) =>
  (args: JsonObject, context: ToolContext): Effect.Effect<CallResult> =>
    Effect.gen(function* () {
      const wanted = yield* decode(args)
      const { path } = yield* resolveToolPath(context, wanted.path)
      return yield* oneAtATime(path)(edit(wanted, context))
    }).pipe(Effect.catchTag("PathError", (error) => Effect.succeed(pathResult(error))))

/** Replaces a text in a file. */
export const editTool = (oneAtATime: OneAtATime): Tool => ({
  name: "edit",
  description:
    "Replaces a text in a file with another and shows the difference. The text to find must be exact, and at one place only unless all is true.",
  inputSchema,
  readOnly: false,
  resource: (args, context) =>
    Effect.gen(function* () {
      const wanted = yield* decode(args)
      const found = yield* resolveToolPath(context, wanted.path)
      const claim = {
        permission: "edit",
        patterns: [found.pattern],
        title: `Edit ${found.pattern}`,
        outside: found.outside
      }
      const bare = shownToPerson(unifiedDiff(found.pattern, wanted.find, wanted.replace))
      // What lies outside is not even looked at before somebody says yes.
      if (found.outside) return { ...claim, detail: bare }
      const current = yield* readCurrent(found)
      const change = edited(found, current, wanted)
      if (Either.isLeft(change)) return { ...claim, detail: bare, foreseen: change.left }
      const before = current._tag === "Text" ? current.text : ""
      return { ...claim, detail: shownToPerson(unifiedDiff(found.pattern, before, change.right.text)) }
    }).pipe(Effect.catchTag("PathError", (error) => new ToolRefusal({ result: pathResult(error) }))),
  run: run(oneAtATime)
})
