import { createHash } from "node:crypto"
import { CallId, type CallResult, type JsonObject, type Part, type ToolTurnPart } from "@harness/protocol"
import { Clock, Effect, Either } from "effect"
import { mint } from "../storage/mint.ts"
import { errorResult } from "../tools/results.ts"
import { Tools } from "../tools/Tools.ts"
import type { Passed, Pending } from "../turns/PendingRepo.ts"
import type { Held, PlannedCall } from "../turns/Progress.ts"
import type { PartRow } from "../turns/TurnsRepo.ts"
import type { RawCall } from "./generate.ts"
import type { Toolbox } from "./Toolbox.ts"

/** What may not be run, and what the model is told instead. */
const cutOff = errorResult(
  "tool.arguments_cut",
  "The answer was cut off at the token limit while these arguments were being written. The tool was not run. Ask for less at once."
)

/** More than this no event could carry beside the call's result, in bytes of JSON. */
const ARGUMENTS_MAX = 393_216

const tooLong = errorResult(
  "tool.arguments_too_long",
  `The arguments are longer than ${ARGUMENTS_MAX} bytes. The tool was not run. Do it in smaller pieces.`
)

const lostArguments = errorResult("tool.arguments_cut", "The arguments of this call could not be read. It was not run.")

const fits = (args: JsonObject): boolean => Buffer.byteLength(JSON.stringify(args)) <= ARGUMENTS_MAX

const keyOf = (...parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(parts.join("\n")).digest("base64url").slice(0, 32)

/** One call of an answer: how it is shown, how the history keeps it, and, when it can't be run, why. */
export interface Planned extends PlannedCall {
  readonly args: Either.Either<JsonObject, CallResult>
  /** The gates it went through before it had to wait. */
  readonly passed: Passed
}

/**
 * Names the calls of an answer, each a function of its part's number. Calls that the token limit may have cut are planned
 * too, and never run.
 */
export const plan = (held: Held, toolbox: Toolbox, raw: ReadonlyArray<RawCall>, step: number, cut: boolean) =>
  Effect.gen(function* () {
    const tools = yield* Tools
    const now = yield* Clock.currentTimeMillis
    return raw.map(({ name: modelName, argumentsText }): ((n: number) => Planned) => {
      const { sessionId, turnId } = held.turn
      const callId = CallId.make(`call_${mint(now)}`)
      const name = toolbox.fullName(modelName)
      // The limit may have cut any of them: arguments that happen to parse may still lack their end.
      const args = cut
        ? Either.left(cutOff)
        : Either.filterOrLeft(tools.parseArguments(argumentsText), fits, () => tooLong)
      const call: Omit<ToolTurnPart, "partId"> = {
        type: "tool",
        callId,
        name,
        arguments: Either.getOrElse(args, () => argumentsText.slice(0, 4_096)),
        state: "requested",
        idempotencyKey: keyOf(sessionId, turnId, callId)
      }
      const content: Part = { type: "call", callId, name, arguments: Either.getOrElse(args, () => ({})) }
      const external = toolbox.find(name)?._tag === "External"
      return (n) => {
        const part: ToolTurnPart = { ...call, partId: `p${n}` }
        return { row: { n, step, open: true, part }, call: part, external, args, content, passed: {} }
      }
    })
  })

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A call that is requested and not started: found so after a crash, or released from its wait. */
export const replan = (row: PartRow, pending: Pending | undefined): ReadonlyArray<Planned> => {
  const { part: call } = row
  if (call.type !== "tool") return []
  const args = pending?.arguments ?? call.arguments
  return [
    {
      row,
      call,
      external: false,
      args: isObject(args) ? Either.right(args) : Either.left(lostArguments),
      content: { type: "call", callId: call.callId, name: call.name, arguments: call.arguments },
      passed: pending?.passed ?? {}
    }
  ]
}
