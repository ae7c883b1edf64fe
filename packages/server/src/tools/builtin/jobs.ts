import type { CallId, CallResult, JsonObject } from "@harness/protocol"
import { DateTime, Effect, Option, Schema } from "effect"
import type { Job, Jobs } from "../../workspace/Jobs.ts"
import { outputName } from "../output.ts"
import { errorResult, textResult } from "../results.ts"
import type { Tool, ToolContext } from "../Tool.ts"
import { decode as decodeText, looksBinary, tailBytes } from "../text.ts"

const COMMAND_SHOWN_LENGTH = 200
/** Of each, where all are shown; of the one, where one is. */
const TAIL_BYTES = 1_024
const ONE_TAIL_BYTES = 16_384

/** A job is named for the call that started it, so that a call starts one at most. */
export const jobIdOf = (callId: string): string => callId.replace(/^call_/, "job_")

const callIdOf = (jobId: string): string => jobId.replace(/^job_/, "call_")

const ownerOf = ({ server, sessionId }: ToolContext) => ({ server, sessionId })

const STATES = {
  exit: "exited",
  timeout: "ended by its time limit",
  too_much: "ended because it wrote too much",
  stopped: "ended"
} as const

const stateOf = ({ outcome }: Job): string => {
  if (outcome === undefined) return "running"
  const state = STATES[outcome.ended]
  if (outcome.exitCode !== undefined) return `${state}, exit code ${outcome.exitCode}`
  return outcome.signal === undefined ? state : `${state}, ${outcome.signal}`
}

const tailOf = ({ output }: Job, bytes: number): { readonly text: string; readonly cut: boolean } => {
  if (looksBinary(output.tail)) return { text: "[binary output]", cut: false }
  const tail = tailBytes(output.tail, bytes)
  return { text: decodeText(tail), cut: tail.length < output.total }
}

const shown = (job: Job, bytes: number): string => {
  const { cut, text } = tailOf(job, bytes)
  const command =
    job.command.length > COMMAND_SHOWN_LENGTH ? `${job.command.slice(0, COMMAND_SHOWN_LENGTH)}…` : job.command
  const where = job.output.kept ? `; the whole is in ${outputName(callIdOf(job.jobId))}` : ""
  const lines = [
    `${job.jobId}: ${stateOf(job)}`,
    `  ${command.replace(/\s*\n\s*/g, " ⏎ ")}`,
    text === ""
      ? "  [no output]"
      : cut
        ? `  [the end of ${job.output.total} bytes of output${where}]`
        : "  [its output]"
  ]
  return [...lines, ...(text === "" ? [] : [text.trimEnd()])].join("\n")
}

const detailsOf = (job: Job): JsonObject => ({
  jobId: job.jobId,
  state: job.outcome === undefined ? "running" : job.outcome.ended === "exit" ? "exited" : job.outcome.ended,
  startedAt: DateTime.formatIso(DateTime.unsafeMake(job.startedAt)),
  bytes: job.output.total,
  ...(job.outcome?.exitCode === undefined ? {} : { exitCode: job.outcome.exitCode }),
  ...(job.outcome?.signal === undefined ? {} : { signal: job.outcome.signal })
})

const notFound = errorResult(
  "job.not_found",
  "This session has no such job. Jobs end with the server, and the oldest that have ended make room for new ones."
)

const jobId = { type: "string", minLength: 1, description: "The job, as shell named it" }

const claim = (name: string) =>
  Effect.succeed({
    permission: name,
    patterns: [name],
    title: "Look after background jobs",
    detail: name,
    outside: false
  })

const one = (job: Job, text: string): CallResult => textResult(text, detailsOf(job))

const ListArguments = Schema.Struct({ jobId: Schema.optional(Schema.String) })
const EndArguments = Schema.Struct({ jobId: Schema.String })

/** Tells how the session's background jobs stand. */
export const shellJobsTool = (jobs: Jobs["Type"]): Tool => ({
  name: "shell_jobs",
  description:
    "Lists the commands this session runs in the background: state, exit code and the end of their output. With jobId, one of them and more of its output.",
  inputSchema: { type: "object", properties: { jobId }, additionalProperties: false },
  readOnly: true,
  needsPermission: false,
  resource: () => claim("shell_jobs"),
  run: (args, context) =>
    Effect.gen(function* () {
      const wanted = yield* Schema.decodeUnknown(ListArguments)(args).pipe(Effect.orDie)
      if (wanted.jobId !== undefined) {
        const found = yield* jobs.find(ownerOf(context), wanted.jobId)
        return Option.match(found, {
          onNone: () => notFound,
          onSome: (job) => one(job, shown(job, ONE_TAIL_BYTES))
        })
      }
      const all = yield* jobs.list(ownerOf(context))
      if (all.length === 0) return textResult("[no background jobs]", { jobs: [] })
      return textResult(all.map((job) => shown(job, TAIL_BYTES)).join("\n\n"), { jobs: all.map(detailsOf) })
    })
})

/** Ends one of the session's background jobs. */
export const shellEndTool = (jobs: Jobs["Type"]): Tool => ({
  name: "shell_end",
  description: "Ends a command that this session runs in the background, with all it started.",
  inputSchema: { type: "object", properties: { jobId }, required: ["jobId"], additionalProperties: false },
  readOnly: false,
  needsPermission: false,
  resource: () => claim("shell_end"),
  run: (args, context) =>
    Effect.gen(function* () {
      const wanted = yield* Schema.decodeUnknown(EndArguments)(args).pipe(Effect.orDie)
      const found = yield* jobs.end(ownerOf(context), wanted.jobId)
      return Option.match(found, { onNone: () => notFound, onSome: (job) => one(job, shown(job, ONE_TAIL_BYTES)) })
    })
})

/** What `shell` answers when it leaves a command running. */
export const startedJob = (callId: CallId): CallResult => {
  const id = jobIdOf(callId)
  return textResult(`Runs in the background as ${id}. shell_jobs tells how it stands, shell_end ends it.`, {
    jobId: id
  })
}
