import type { ToolTurnPart, TurnSnapshot } from "@harness/protocol"
import { fitTurnRecord, type RecordedModelCall, type RecordedStep, type TurnRecord } from "@harness/protocol/jambonz"

/** What was measured of one model generation. */
export interface Generation {
  /** From 1, as the turn's steps; of a step that was never finished too. */
  readonly step: number
  readonly millis?: number
  readonly firstTokenMillis?: number
}

/** What a turn itself does not hold. */
export interface TurnTimings {
  readonly generations?: ReadonlyArray<Generation>
  /** What else the turn's time went to, in order: a draft, a filler, a wait. */
  readonly stages?: ReadonlyArray<RecordedStep>
  /** Models asked beside the turn's own steps: a draft that was dropped, a model that did not begin in time. */
  readonly otherCalls?: ReadonlyArray<RecordedModelCall>
  /** Facts of the call: `draft_adopted`, `fallback_model`. */
  readonly flags?: ReadonlyArray<string>
  readonly note?: string
}

/** The route of a turn that asked no model. */
export const LINE_ROUTE = "line"

const whole = (millis: number): number => Math.max(0, Math.round(millis))
const between = (from: string | undefined, to: string | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : whole(Date.parse(to) - Date.parse(from))
const some = <K extends string, V>(key: K, value: V | undefined): { readonly [Key in K]?: V } => {
  const entry: { [Key in K]?: V } = {}
  if (value !== undefined) entry[key] = value
  return entry
}

const ENDED: ReadonlySet<ToolTurnPart["state"]> = new Set([
  "completed",
  "failed",
  "rejected",
  "cancelled",
  "interrupted"
])

// A model can ask for a tool by any name, the caller's words among them.
const nameOf = (name: string): string => (/^[A-Za-z0-9_.-]{1,128}$/.test(name) ? name : "unknown")

/** Which of a turn's tools were run by the caller's side, by the name the model calls them. */
export type IsJambonz = (name: string) => boolean

const ownTools = (turn: TurnSnapshot, isJambonz: IsJambonz): TurnRecord["own_tools"] =>
  turn.parts
    .filter((part) => part.type === "tool")
    .filter(({ name, state }) => ENDED.has(state) && !isJambonz(name) && !name.startsWith("jambonz."))
    .map(({ name, result, settledAt, startedAt, state }) => ({
      name: nameOf(name),
      ok: state === "completed" && result?.isError !== true,
      ...some("ms", between(startedAt, settledAt))
    }))

const modelCalls = (turn: TurnSnapshot, timings: TurnTimings): ReadonlyArray<RecordedModelCall> => {
  const measured = new Map(timings.generations?.map((generation) => [generation.step, generation]))
  const finished = new Map(turn.steps.map((step) => [step.step, step]))
  const numbers = [...new Set([...finished.keys(), ...measured.keys()])].toSorted((a, b) => a - b)
  const replies = numbers.map((number): RecordedModelCall => {
    const step = finished.get(number)
    const { firstTokenMillis, millis } = measured.get(number) ?? {}
    return {
      model: step === undefined ? turn.model : `${step.provider}/${step.model}`,
      purpose: "reply",
      ...some("input_tokens", step?.usage.inputTokens),
      ...some("output_tokens", step?.usage.outputTokens),
      ...some("first_token_ms", firstTokenMillis === undefined ? undefined : whole(firstTokenMillis)),
      ...some("ms", millis === undefined ? undefined : whole(millis))
    }
  })
  return [...(timings.otherCalls ?? []), ...replies]
}

const stages = (turn: TurnSnapshot, timings: TurnTimings): ReadonlyArray<RecordedStep> => {
  const queued = between(turn.acceptedAt, turn.startedAt)
  const millis = new Map(timings.generations?.map((generation) => [generation.step, generation.millis]))
  return [
    ...(queued === undefined ? [] : [{ name: "queued", ms: queued }]),
    ...(timings.stages ?? []),
    ...turn.steps.map(({ finishReason, step }): RecordedStep => {
      const ms = millis.get(step)
      return {
        name: "generate",
        ...some("ms", ms === undefined ? undefined : whole(ms)),
        detail: { step, finishReason }
      }
    })
  ]
}

const flagsOf = (turn: TurnSnapshot, timings: TurnTimings): ReadonlyArray<string> => {
  const found = [
    ...(timings.flags ?? []),
    ...(turn.stopReason === undefined || turn.stopReason === "end" ? [] : [turn.stopReason]),
    ...(turn.failure === undefined ? [] : [turn.failure.code]),
    ...(turn.attempt > 1 ? ["recovered"] : []),
    ...turn.parts.flatMap((part) => (part.type === "notice" ? [part.code] : part.type === "refusal" ? ["refusal"] : []))
  ]
  return [...new Set(found)]
}

/**
 * How a turn was handled, as jambonz stores it, cut to what it takes. Names, numbers and codes alone: never arguments,
 * results, digits or anybody's words.
 */
export const turnRecordOf = (turn: TurnSnapshot, timings: TurnTimings, isJambonz: IsJambonz): TurnRecord => {
  const asked = turn.steps.length > 0 || (timings.generations?.length ?? 0) > 0
  return fitTurnRecord({
    route: asked ? turn.agent : LINE_ROUTE,
    procedures: [],
    steps: stages(turn, timings),
    model_calls: modelCalls(turn, timings),
    own_tools: ownTools(turn, isJambonz),
    flags: flagsOf(turn, timings),
    ...some("note", timings.note)
  })
}
