import { mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { it } from "@effect/vitest"
import type { CallResult, JsonObject } from "@harness/protocol"
import { Effect, Either, type Layer, Option } from "effect"
import type { ToolContext } from "../../src/tools/Tool.ts"
import { Tools } from "../../src/tools/Tools.ts"
import { freshContext } from "./context.ts"

export const textOf = (result: CallResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("\n")

export const codeOf = (result: CallResult) => result.details?.["code"]

export const named = (name: string) =>
  Effect.map(Tools, (tools) => ({ tools, tool: Option.getOrThrow(tools.find(name)) }))

/** Checked and run as the loop does it, with what was judged. */
export const use = (name: string, args: JsonObject, context: ToolContext) =>
  Effect.gen(function* () {
    const { tool, tools } = yield* named(name)
    const wrong = tools.check(tool, args)
    if (Option.isSome(wrong)) return wrong.value
    const judged = yield* Effect.either(tool.resource(args, context))
    if (Either.isLeft(judged)) return judged.left.result
    return yield* tools.run(tool, args, { ...context, judged: judged.right })
  })

export const judge = (name: string, args: JsonObject, context: ToolContext) =>
  Effect.flatMap(named(name), ({ tool }) => tool.resource(args, context))

/** A test in a workdir of its own, over these tools. */
export const over =
  (layer: Layer.Layer<Tools>) => (name: string, test: (context: ToolContext) => Effect.Effect<void, unknown, Tools>) =>
    it.scopedLive(name, () => Effect.flatMap(freshContext, test).pipe(Effect.provide(layer)))

export const within = over(Tools.layer)

export const put = (context: ToolContext, name: string, content: string | Uint8Array) =>
  Effect.promise(async () => {
    const path = join(context.workdir, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  })

export const get = (context: ToolContext, name: string) =>
  Effect.promise(() => readFile(join(context.workdir, name), "utf8"))
