import type { CallResult, JsonObject } from "@harness/protocol"
import { Effect, Schema } from "effect"
import { realWorkdir } from "../../workspace/paths.ts"
import type { Shell, ShellOutcome } from "../../workspace/Shell.ts"
import { cutInTheMiddle, OUTPUT_MAX_BYTES, outputFile, outputName } from "../output.ts"
import { errorResult } from "../results.ts"
import { readShellLine } from "../shellLine.ts"
import { TOOL_TIMEOUT_MILLIS, type Tool, type ToolContext, ToolRefusal } from "../Tool.ts"
import { decode, looksBinary, wellFormed } from "../text.ts"
import { pathResult } from "./judged.ts"

const TIMEOUT_MAX_MILLIS = 3_600_000
/** The tool ends a command itself, and keeps what it wrote; the general limit only stands behind it. */
const ENDING_MILLIS = 30_000
/** A disk has an end too. */
const WHOLE_MAX_BYTES = 268_435_456
const TITLE_MAX_LENGTH = 120

const Arguments = Schema.Struct({
  command: Schema.String,
  timeoutMillis: Schema.optionalWith(Schema.Int, { default: () => TOOL_TIMEOUT_MILLIS }),
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
      description: `When to end it; ${TOOL_TIMEOUT_MILLIS} when left out`
    },
    background: { type: "boolean", description: "Go on without waiting for its end" }
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

const run =
  (shell: Shell["Type"]) =>
  (args: JsonObject, context: ToolContext): Effect.Effect<CallResult> =>
    Effect.gen(function* () {
      const { background, command, timeoutMillis } = yield* Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)
      if (background) {
        return errorResult(
          "shell.background",
          "Commands cannot be left in the background here. Run it and wait for its end."
        )
      }
      const cwd = yield* realWorkdir(context)
      const outcome = yield* shell.run({
        command,
        cwd,
        variables: {
          HARNESS_IDEMPOTENCY_KEY: context.idempotencyKey,
          HARNESS_SESSION_ID: context.sessionId,
          HARNESS_TURN_ID: context.turnId
        },
        timeoutMillis,
        shown: OUTPUT_MAX_BYTES,
        most: WHOLE_MAX_BYTES,
        file: outputFile(context),
        live: (output) => context.activity({ output })
      })
      return resultOf(outcome, context, timeoutMillis)
    }).pipe(
      Effect.catchTags({
        PathError: (error) => Effect.succeed(pathResult(error)),
        ShellError: (error) => Effect.succeed(errorResult("shell.not_started", error.message))
      })
    )

const refuse = (message: string) => new ToolRefusal({ result: errorResult("shell.invalid", message) })

/** Runs a command line in the workdir. */
export const shellTool = (shell: Shell["Type"]): Tool => ({
  name: "shell",
  description:
    "Runs a command line with sh in the working directory and gives its output and exit code. There is no terminal and no input. What it leaves running in the background is ended with it.",
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
  run: run(shell)
})
