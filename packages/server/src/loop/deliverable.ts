import type { CallResult, JsonObject } from "@harness/protocol"
import { Either } from "effect"
import type { ResolvedModel } from "../providers/Model.ts"
import { questionTool } from "../tools/builtin/own.ts"
import { type OutputCheck, outputCheck } from "../tools/outputSchema.ts"
import { errorResult, textResult } from "../tools/results.ts"
import type { Tool } from "../tools/Tool.ts"
import { optionsOf, type PartRow, type TurnRow } from "../turns/TurnsRepo.ts"

/** The tool a model without native JSON hands its result in with. */
export const SUBMIT_RESULT = "submit_result"
/** The notice a mismatch leaves; as many as there are tries that failed. */
export const INVALID_NOTICE = "output.invalid"
/** A mismatch is told, and tried again, this often. */
const RETRIES_MAX = 2

/** What a turn must deliver as JSON. */
export interface Deliverable {
  readonly native: boolean
  readonly schema: unknown
  readonly check: OutputCheck
}

/** The JSON contract of a turn, if it has one. */
export const deliverableOf = (turn: TurnRow, model: ResolvedModel): Deliverable | undefined => {
  const { output } = optionsOf(turn)
  if (output?.type !== "json") return undefined
  const check = Either.getOrElse(outputCheck(output.schema), (): OutputCheck => () => [])
  return { native: model.nativeJson, schema: output.schema, check }
}

const isObjectSchema = (schema: unknown): schema is JsonObject =>
  typeof schema === "object" && schema !== null && "type" in schema && schema.type === "object"

/** Tool arguments are objects: any other result is wrapped. */
const argumentsSchema = (schema: unknown): JsonObject =>
  isObjectSchema(schema)
    ? schema
    : { type: "object", properties: { result: schema ?? {} }, required: ["result"], additionalProperties: false }

/** What a submit_result call hands in. */
export const submitted = (deliverable: Deliverable, args: unknown): unknown => {
  if (isObjectSchema(deliverable.schema)) return args
  return typeof args === "object" && args !== null && "result" in args ? args.result : undefined
}

/** The tool, as it is offered. Its arguments are checked by the contract, not by the tool's schema. */
export const submitTool = (deliverable: Deliverable): Tool => ({
  ...questionTool,
  name: SUBMIT_RESULT,
  description: "Hands in the final result of this task. Call it once, when everything else is done.",
  inputSchema: argumentsSchema(deliverable.schema),
  readOnly: true
})

/** What a submit_result call is answered with. */
export const answerSubmit = (deliverable: Deliverable, args: JsonObject): CallResult => {
  const issues = deliverable.check(submitted(deliverable, args))
  if (issues.length === 0) return textResult("Accepted.", { accepted: true })
  return errorResult("output.invalid", mismatch(issues), { issues })
}

const mismatch = (issues: ReadonlyArray<string>): string =>
  `The result does not fit what was asked for:\n${issues.map((issue) => `- ${issue}`).join("\n")}`

/** The result that was handed in among a turn's latest calls. An earlier one was overtaken by what somebody said since. */
export const accepted = (parts: ReadonlyArray<PartRow>): { readonly args: unknown } | undefined => {
  const latest = parts.findLast(({ part }) => part.type === "tool")?.step
  const row = parts.findLast(
    ({ part, step }) =>
      step === latest && part.type === "tool" && part.name === SUBMIT_RESULT && part.state === "completed"
  )
  return row?.part.type === "tool" ? { args: row.part.arguments } : undefined
}

/** What a final text comes to under the contract. */
export type Judged =
  | { readonly _tag: "Fits"; readonly value: unknown }
  | { readonly _tag: "Misfit"; readonly value: unknown; readonly reason: string }

const fence = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/

export const judgeText = (deliverable: Deliverable, text: string): Judged => {
  const parsed = Either.try((): unknown => JSON.parse(fence.exec(text)?.[1] ?? text))
  if (Either.isLeft(parsed)) {
    const how = deliverable.native ? "Answer with JSON alone." : `Call ${SUBMIT_RESULT} with the result.`
    return { _tag: "Misfit", value: text, reason: `The answer is not JSON. ${how}` }
  }
  const issues = deliverable.check(parsed.right)
  return issues.length === 0
    ? { _tag: "Fits", value: parsed.right }
    : { _tag: "Misfit", value: parsed.right, reason: mismatch(issues) }
}

/** Tries that failed so far, each a notice or a refused submit_result. */
export const failedTries = (parts: ReadonlyArray<PartRow>): number =>
  parts.filter(
    ({ part }) =>
      (part.type === "notice" && part.code === INVALID_NOTICE) ||
      (part.type === "tool" && part.name === SUBMIT_RESULT && part.result?.details?.["code"] === "output.invalid")
  ).length

export const exhausted = (parts: ReadonlyArray<PartRow>): boolean => failedTries(parts) > RETRIES_MAX

/** Whether another try that fails is the last. */
export const isLastTry = (parts: ReadonlyArray<PartRow>): boolean => failedTries(parts) >= RETRIES_MAX

/** The last try that was refused, for `rejected`. */
export const lastRejected = (deliverable: Deliverable, parts: ReadonlyArray<PartRow>): unknown => {
  const row = parts.findLast(({ part }) => part.type === "tool" && part.name === SUBMIT_RESULT)
  return row?.part.type === "tool" ? submitted(deliverable, row.part.arguments) : undefined
}
