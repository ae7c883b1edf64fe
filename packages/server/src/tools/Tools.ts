import type { CallResult, JsonObject } from "@harness/protocol"
import { Context, Duration, Effect, type Either, Layer, Option } from "effect"
import { Finder } from "../workspace/Finder.ts"
import { Jobs } from "../workspace/Jobs.ts"
import { makeOneAtATime } from "../workspace/oneAtATime.ts"
import { Shell } from "../workspace/Shell.ts"
import { WebAccess } from "../workspace/WebAccess.ts"
import { checkArguments, parseArguments } from "./arguments.ts"
import { editTool } from "./builtin/edit.ts"
import { globTool } from "./builtin/glob.ts"
import { shellEndTool, shellJobsTool } from "./builtin/jobs.ts"
import { listTool } from "./builtin/list.ts"
import { questionTool, taskTool } from "./builtin/own.ts"
import { readTool } from "./builtin/read.ts"
import { searchTool } from "./builtin/search.ts"
import { shellTool } from "./builtin/shell.ts"
import { todoTool } from "./builtin/todo.ts"
import { webfetchTool } from "./builtin/webfetch.ts"
import { writeTool } from "./builtin/write.ts"
import { limitResult } from "./output.ts"
import { errorResult } from "./results.ts"
import { TOOL_TIMEOUT_MILLIS, type Tool, type ToolContext } from "./Tool.ts"

const run = Effect.fn("Tools.run")(function* (tool: Tool, args: JsonObject, context: ToolContext) {
  const timeoutMillis = tool.timeoutMillis ?? TOOL_TIMEOUT_MILLIS
  const result = yield* tool.run(args, context).pipe(
    Effect.timeoutTo({
      duration: Duration.millis(timeoutMillis),
      onSuccess: (result: CallResult) => result,
      onTimeout: () =>
        errorResult("tool.timeout", `The call was ended after ${timeoutMillis} ms without a result.`, { timeoutMillis })
    }),
    Effect.catchAllDefect((defect) =>
      Effect.logError("a tool broke", defect).pipe(
        Effect.annotateLogs({ tool: tool.name, callId: context.callId }),
        Effect.as(
          errorResult("tool.failed", `"${tool.name}" broke while it ran. What it had done until then may stand.`)
        )
      )
    )
  )
  return yield* limitResult(result, context)
})

const make = (list: ReadonlyArray<Tool>) => ({
  list,
  find: (name: string) => Option.fromNullable(list.find((tool) => tool.name === name)),
  parseArguments,
  check: checkArguments,
  run
})

/** What a model may call, and how a call is run: checked, timed, cut to size; never a failure, always a result. */
export class Tools extends Context.Tag("@harness/server/Tools")<
  Tools,
  {
    readonly list: ReadonlyArray<Tool>
    readonly find: (name: string) => Option.Option<Tool>
    /** Cut-off and unparsable arguments are an error result, and are never run. */
    readonly parseArguments: (argumentsText: string) => Either.Either<JsonObject, CallResult>
    /** None: the arguments fit. Some: the error result, which names the paths. */
    readonly check: (tool: Pick<Tool, "name" | "inputSchema">, args: JsonObject) => Option.Option<CallResult>
    /** Ends a call at its time limit, cuts what is too long, and turns a defect into a result. Interruptible. */
    readonly run: (tool: Tool, args: JsonObject, context: ToolContext) => Effect.Effect<CallResult>
  }
>() {
  /** Exactly these tools. */
  static readonly layerOf = (list: ReadonlyArray<Tool>) => Layer.succeed(Tools, make(list))

  /** The built-in tools, over whatever runs shells and finds files. Jobs must be those that sessions end. */
  static readonly layerNoDeps = Layer.effect(
    Tools,
    Effect.gen(function* () {
      const shell = yield* Shell
      const jobs = yield* Jobs
      const finder = yield* Finder
      const access = yield* WebAccess
      const oneAtATime = makeOneAtATime()
      return make([
        readTool,
        listTool,
        writeTool(oneAtATime),
        editTool(oneAtATime),
        globTool(finder),
        searchTool(finder),
        shellTool(shell, jobs),
        shellJobsTool(jobs),
        shellEndTool(jobs),
        webfetchTool(access),
        todoTool,
        questionTool,
        taskTool
      ])
    })
  )

  /** The built-in tools. Layers are shared where they are built together, so `Jobs.layer` beside it is the same jobs. */
  static readonly layer = Layer.provide(Tools.layerNoDeps, Layer.mergeAll(Shell.layer, Jobs.layer, Finder.layer))
}
