import type { FileHandle } from "node:fs/promises"
import type { CallResult, JsonObject } from "@harness/protocol"
import { Effect, Option, Schema } from "effect"
import { openJudged } from "../../workspace/openJudged.ts"
import { locate, PathError, pathError, resolveToolPath, type ToolPath } from "../../workspace/paths.ts"
import { ATTACHMENT_MAX_LENGTH, OUTPUT_MAX_BYTES } from "../output.ts"
import { errorResult, textResult } from "../results.ts"
import { type Tool, type ToolContext, ToolRefusal } from "../Tool.ts"
import { looksBinary } from "../text.ts"
import { notJudged, pathResult } from "./judged.ts"
import { readLines } from "./readLines.ts"

const LINES_DEFAULT = 2_000
const IMAGE_MAX_BYTES = Math.floor((ATTACHMENT_MAX_LENGTH / 4) * 3)
const FRONT_BYTES = 65_536

const Arguments = Schema.Struct({
  path: Schema.String,
  offset: Schema.optionalWith(Schema.Int, { default: () => 1 }),
  limit: Schema.optionalWith(Schema.Int, { default: () => LINES_DEFAULT })
})

const inputSchema = {
  type: "object",
  properties: {
    path: { type: "string", minLength: 1, description: "The file, from the working directory" },
    offset: { type: "integer", minimum: 1, description: "First line to read, from 1" },
    limit: { type: "integer", minimum: 1, description: `Lines to read at most, ${LINES_DEFAULT} when left out` }
  },
  required: ["path"],
  additionalProperties: false
}

const WHOLE_OUTPUT = /^tool-output\/(call_[0-9A-HJKMNP-TV-Z]{26}\.txt)$/

/** Whole outputs of earlier calls lie outside the workdir, and may be read under the name the model was told. */
const find = (path: string, context: ToolContext): Effect.Effect<ToolPath, PathError> => {
  const name = WHOLE_OUTPUT.exec(path)?.[1]
  if (name === undefined) return resolveToolPath(context, path)
  return locate(context.outputDir, name).pipe(
    Effect.filterOrFail(
      (place) => place.stats?.isFile() === true,
      () => new PathError({ code: "path.not_found", message: "There is nothing at this path." })
    ),
    Effect.map((place) => ({ ...place, pattern: path, outside: false })),
    Effect.orElse(() => resolveToolPath(context, path))
  )
}

const imageType = (front: Uint8Array): string | undefined => {
  const start = Buffer.from(front.subarray(0, 12)).toString("latin1")
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png"
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg"
  if (/^GIF8[79]a/.test(start)) return "image/gif"
  if (/^RIFF....WEBP/s.test(start)) return "image/webp"
  return undefined
}

const readAll = (handle: FileHandle) => Effect.tryPromise({ try: () => handle.readFile(), catch: pathError })

const readImage = (handle: FileHandle, mime: string, size: number): Effect.Effect<CallResult, PathError> =>
  size > IMAGE_MAX_BYTES
    ? Effect.succeed(
        errorResult("read.too_large", `The image has ${size} bytes; at most ${IMAGE_MAX_BYTES} can be shown.`)
      )
    : Effect.map(readAll(handle), (bytes) => ({
        content: [{ type: "image", mime, data: bytes.toString("base64") }],
        isError: false
      }))

const readOpen = (handle: FileHandle, offset: number, limit: number): Effect.Effect<CallResult, PathError> =>
  Effect.gen(function* () {
    const stats = yield* Effect.tryPromise({ try: () => handle.stat(), catch: pathError })
    if (stats.isDirectory()) return errorResult("read.is_folder", "This is a folder. Use list to see what is in it.")
    if (!stats.isFile()) return errorResult("read.not_file", "This is not a regular file.")
    const { buffer, bytesRead } = yield* Effect.tryPromise({
      try: () => handle.read(Buffer.alloc(FRONT_BYTES), 0, FRONT_BYTES, 0),
      catch: pathError
    })
    const front = buffer.subarray(0, bytesRead)
    const mime = imageType(front)
    if (mime !== undefined) return yield* readImage(handle, mime, stats.size)
    if (looksBinary(front)) return errorResult("read.binary", `This is a binary file of ${stats.size} bytes.`)
    if (bytesRead === 0) return textResult("[the file is empty]")
    return yield* readLines(handle, { offset, limit, maxBytes: OUTPUT_MAX_BYTES - 1_024 })
  })

const run = (args: JsonObject, context: ToolContext): Effect.Effect<CallResult> =>
  Effect.gen(function* () {
    const { limit, offset, path } = yield* Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)
    const found = yield* find(path, context)
    const refused = notJudged(context, found)
    if (Option.isSome(refused)) return refused.value
    if (found.stats === undefined) return errorResult("path.not_found", "There is nothing at this path.")
    const handle = yield* openJudged(found)
    return yield* readOpen(handle, offset, limit)
  }).pipe(
    Effect.catchTag("PathError", (error) => Effect.succeed(pathResult(error))),
    Effect.scoped
  )

/** Reads a text file by lines, or shows an image. */
export const readTool: Tool = {
  name: "read",
  description:
    "Reads a file: text by lines, or a PNG, JPEG, GIF or WebP image. Long files come in pieces; a note says where to go on.",
  inputSchema,
  readOnly: true,
  resource: (args, context) =>
    Effect.gen(function* () {
      const { path } = yield* Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)
      const found = yield* find(path, context)
      return {
        permission: "read",
        patterns: [found.pattern],
        title: `Read ${found.pattern}`,
        detail: found.pattern,
        outside: found.outside
      }
    }).pipe(Effect.catchTag("PathError", (error) => new ToolRefusal({ result: pathResult(error) }))),
  run
}
