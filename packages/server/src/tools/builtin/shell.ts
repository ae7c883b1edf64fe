import type { CallResult, JsonObject } from "@harness/protocol"
import { Effect, Schema } from "effect"
import type { Jobs } from "../../workspace/Jobs.ts"
import { realWorkdir } from "../../workspace/paths.ts"
import type { Shell, ShellOutcome } from "../../workspace/Shell.ts"
import { cutInTheMiddle, OUTPUT_MAX_BYTES, outputFile, outputName } from "../output.ts"
import { errorResult } from "../results.ts"
import { readShellLine } from "../shellLine.ts"
import { TOOL_TIMEOUT_MILLIS, type Tool, type ToolContext, ToolRefusal } from "../Tool.ts"
import { decode, looksBinary, wellFormed } from "../text.ts"
import { jobIdOf, startedJob } from "./jobs.ts"
import { pathResult } from "./judged.ts"

const TIMEOUT_MAX_MILLIS = 3_600_000
/** The tool ends a command itself, and keeps what it wrote; the general limit only stands behind it. */
const ENDING_MILLIS = 30_000
/** A disk has an end too. */
const WHOLE_MAX_BYTES = 268_435_456
const TITLE_MAX_LENGTH = 120

const Arguments = Schema.Struct({
  command: Schema.String,
  timeoutMillis: Schema.optional(Schema.Int),
  background: Schema.optionalWith(Schema.Boolean, { default: () => false })
})

const inputSchema = {
  type: "object",
  properties: {
    command: { type: "string", minLength: 1, description: "The command line, for sh" },
    timeoutMillis: {
      type: "integer",
      minimum: 1,
      maximum: TIMEOUT_MAX_MILLIS,
      description: `When to end it; ${TOOL_TIMEOUT_MILLIS} when left out, and not at all in the background`
    },
    background: {
      type: "boolean",
      description: "Do not wait: it goes on beside the turns of this session until it ends or shell_end ends it"
    }
  },
  required: ["command"],
  additionalProperties: false
}

const output = ({ output }: ShellOutcome, context: ToolContext): string => {
  const name = output.kept ? outputName(context.callId) : undefined
  if (looksBinary(output.head)) {
    return `[${output.total} bytes of binary output${name === undefined ? "" : `, kept in ${name}`}]`
  }
  if (output.total <= OUTPUT_MAX_BYTES) return decode(output.head)
  return cutInTheMiddle({ ...output, name })
}

/** What is told beside the output, and the code of what went wrong. */
const ending = (outcome: ShellOutcome, timeoutMillis: number): { readonly note?: string; readonly code?: string } => {
  if (outcome.ended === "timeout")
    return { code: "tool.timeout", note: `ended after ${timeoutMillis} ms, its time limit` }
  if (outcome.ended === "too_much") return { code: "tool.output_too_large", note: "ended because it wrote too much" }
  if (outcome.exitCode === 0) return {}
  return {
    code: "shell.exit",
    note: outcome.signal === undefined ? `exit code ${outcome.exitCode ?? "unknown"}` : `ended by ${outcome.signal}`
  }
}

const resultOf = (outcome: ShellOutcome, context: ToolContext, timeoutMillis: number): CallResult => {
  const { code, note } = ending(outcome, timeoutMillis)
  const text = output(outcome, context)
  const lines = [...(text === "" ? [] : [text]), ...(note === undefined ? [] : [`[${note}]`])]
  return {
    content: [{ type: "text", text: lines.length === 0 ? "[no output]" : lines.join("\n") }],
    isError: code !== undefined,
    details: {
      ...(code === undefined ? {} : { code }),
      ...(outcome.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
      ...(outcome.signal === undefined ? {} : { signal: outcome.signal }),
      ...(outcome.ended === "timeout" ? { timeoutMillis } : {})
    }
  }
}

const variablesOf = (context: ToolContext) => ({
  HARNESS_IDEMPOTENCY_KEY: context.idempotencyKey,
  HARNESS_SESSION_ID: context.sessionId,
  HARNESS_TURN_ID: context.turnId
})

const run =
  (shell: Shell["Type"], jobs: Jobs["Type"]) =>
  (args: JsonObject, context: ToolContext): Effect.Effect<CallResult> =>
    Effect.gen(function* () {
      const { background, command, timeoutMillis } = yield* Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)
      const cwd = yield* realWorkdir(context)
      const line = { command, cwd, variables: variablesOf(context), file: outputFile(context) }
      if (background) {
        const owner = { server: context.server, sessionId: context.sessionId }
        const limit = timeoutMillis ?? Number.POSITIVE_INFINITY
        yield* jobs.start({ ...line, owner, jobId: jobIdOf(context.callId), timeoutMillis: limit })
        return startedJob(context.callId)
      }
      const limit = timeoutMillis ?? TOOL_TIMEOUT_MILLIS
      const outcome = yield* shell.run({
        ...line,
        timeoutMillis: limit,
        shown: OUTPUT_MAX_BYTES,
        most: WHOLE_MAX_BYTES,
        live: (output) => context.activity({ output })
      })
      return resultOf(outcome, context, limit)
    }).pipe(
      Effect.catchTags({
        PathError: (error) => Effect.succeed(pathResult(error)),
        ShellError: (error) => Effect.succeed(errorResult("shell.not_started", error.message)),
        JobError: (error) => Effect.succeed(errorResult(error.code, error.message))
      })
    )

const refuse = (message: string) => new ToolRefusal({ result: errorResult("shell.invalid", message) })

/** Runs a command line in the workdir. */
export const shellTool = (shell: Shell["Type"], jobs: Jobs["Type"]): Tool => ({
  name: "shell",
  description:
    "Runs a command line with sh in the working directory and gives its output and exit code. There is no terminal and no input. What it leaves running is ended with it; background: true is for what is to run on.",
  inputSchema,
  readOnly: false,
  timeoutMillis: TIMEOUT_MAX_MILLIS + ENDING_MILLIS,
  resource: (args) =>
    Effect.gen(function* () {
      const { command } = yield* Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)
      if (command.includes("\0")) return yield* refuse("A command cannot hold a NUL character.")
      if (command.trim() === "") return yield* refuse("The command is blank.")
      const line = yield* readShellLine(command)
      const [first = ""] = command.trim().split("\n")
      const title = first.length > TITLE_MAX_LENGTH ? `${wellFormed(first.slice(0, TITLE_MAX_LENGTH))}…` : first
      return { permission: "shell", title: `Run ${title}`, detail: command, outside: false, ...line }
    }),
  run: run(shell, jobs)
})
