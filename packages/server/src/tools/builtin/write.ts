import type { CallResult, JsonObject } from "@harness/protocol"
import { Effect, Option, Schema } from "effect"
import type { OneAtATime } from "../../workspace/oneAtATime.ts"
import { type PathError, resolveToolPath } from "../../workspace/paths.ts"
import { replaceFile } from "../../workspace/replaceFile.ts"
import { errorResult, textResult } from "../results.ts"
import { type Tool, type ToolContext, ToolRefusal } from "../Tool.ts"
import { detailOf, diffOf, readCurrent } from "./fileChange.ts"
import { notJudged, pathResult } from "./judged.ts"

const Arguments = Schema.Struct({ path: Schema.String, content: Schema.String })

const inputSchema = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1, description: "The file, from the working directory" },
    content: { type: "string", description: "All that the file is to hold" }
  },
  required: ["path", "content"],
  additionalProperties: false
}

const decode = (args: JsonObject) => Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)

const isFolder = errorResult("write.is_folder", "This is a folder. A file needs a name of its own.")

/** A name that ends in a slash can only be a folder's. */
const namesFolder = (path: string): boolean => /[\\/]\.{0,2}$/.test(path)

const write = (args: typeof Arguments.Type, context: ToolContext): Effect.Effect<CallResult, PathError> =>
  Effect.gen(function* () {
    const found = yield* resolveToolPath(context, args.path)
    const refused = notJudged(context, found)
    if (Option.isSome(refused)) return refused.value
    if (found.stats?.isDirectory() === true || namesFolder(args.path)) return isFolder
    const current = yield* readCurrent(found)
    const bytes = Buffer.from(args.content)
    const about = { path: found.pattern, bytes: bytes.length, created: current._tag === "Nothing" }
    if (current._tag === "Text" && current.text === args.content) {
      return textResult(`${found.pattern} holds this already; nothing was written.`, { ...about, diff: "" })
    }
    yield* replaceFile(found, bytes)
    const how =
      current._tag === "Nothing"
        ? `Created ${found.pattern} (${bytes.length} bytes).`
        : `Replaced ${found.pattern} (${bytes.length} bytes; it had ${current.size}).`
    return textResult(how, { ...about, ...diffOf(found.pattern, current, args.content) })
  })

const run =
  (oneAtATime: OneAtATime) =>
  (args: JsonObject, context: ToolContext): Effect.Effect<CallResult> =>
    Effect.gen(function* () {
      const wanted = yield* decode(args)
      const { path } = yield* resolveToolPath(context, wanted.path)
      return yield* oneAtATime(path)(write(wanted, context))
    }).pipe(Effect.catchTag("PathError", (error) => Effect.succeed(pathResult(error))))

/** Writes a whole file, with the folders it needs: all of it or nothing. */
export const writeTool = (oneAtATime: OneAtATime): Tool => ({
  name: "write",
  description:
    "Writes a whole file, new or in place of what is there, and makes the folders it needs. To change a part of a file, use edit.",
  inputSchema,
  readOnly: false,
  resource: (args, context) =>
    Effect.gen(function* () {
      const { content, path } = yield* decode(args)
      const found = yield* resolveToolPath(context, path)
      // What lies outside is not even looked at before somebody says yes.
      const current = found.outside ? undefined : yield* readCurrent(found)
      const verb = current === undefined ? "Write" : current._tag === "Nothing" ? "Create" : "Replace"
      return {
        permission: "edit",
        patterns: [found.pattern],
        title: `${verb} ${found.pattern}`,
        detail: detailOf(found.pattern, current, content),
        outside: found.outside,
        ...(!found.outside && found.stats?.isDirectory() === true ? { foreseen: isFolder } : {})
      }
    }).pipe(Effect.catchTag("PathError", (error) => new ToolRefusal({ result: pathResult(error) }))),
  run: run(oneAtATime)
})
