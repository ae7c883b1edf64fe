import type { FinishReason, PromptPart } from "@harness/protocol"
import { Chunk, Effect, Option } from "effect"
import type { Answer } from "./answer.ts"
import { type Act, inPieces, planFor } from "./demoPlan.ts"
import {
  CONTINUE_NUDGE,
  type GenerateRequest,
  type ModelEvent,
  type ModelFailure,
  type ModelMessage,
  type ResolvedModel
} from "./Model.ts"
import { brief } from "./text.ts"

const textOf = (content: ReadonlyArray<{ readonly type: string; readonly text?: string }>): string =>
  content.flatMap((part) => (part.type === "text" && part.text !== undefined ? [part.text] : [])).join("\n")

const spoken = (message: ModelMessage): string =>
  message.role === "assistant"
    ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
    : textOf(message.content)

const isNudge = (message: ModelMessage | undefined): boolean => {
  if (message?.role !== "user") return false
  const first = message.content.find((part) => part.type === "text")
  return first?.type === "text" && first.text.startsWith(CONTINUE_NUDGE)
}

interface Situation {
  readonly messages: ReadonlyArray<ModelMessage>
  /** What had been said before the cut, when this goes on after one. */
  readonly partial: string
}

/** Takes cut answers and their nudges off the end, the latest first. */
const situationOf = (messages: ReadonlyArray<ModelMessage>, partial = ""): Situation => {
  const cut = messages.at(-2)
  if (!isNudge(messages.at(-1)) || cut?.role !== "assistant") return { messages, partial }
  return situationOf(messages.slice(0, -2), spoken(cut) + partial)
}

const answerFor = (name: string, isError: boolean, content: ReadonlyArray<PromptPart>): string => {
  const said = textOf(content).trim()
  return `${name} ${isError ? "failed" : "said"}: ${said === "" ? "(nothing)" : brief(said, 200)}`
}

const actsFor = (messages: ReadonlyArray<ModelMessage>): ReadonlyArray<Act> => {
  if (messages.at(-1)?.role === "tool") {
    const first = messages.findLastIndex((message) => message.role !== "tool") + 1
    const lines = messages
      .slice(first)
      .flatMap((message) =>
        message.role === "tool" ? [answerFor(message.name, message.isError, message.content)] : []
      )
    return [inPieces(lines.join("\n"))]
  }
  const prompt = messages.findLast((message) => message.role === "user")
  return planFor(prompt === undefined ? "" : spoken(prompt))
}

/** The rest of an answer whose beginning was `partial`: nothing that came before it is done again. */
const remainder = (acts: ReadonlyArray<Act>, partial: string): ReadonlyArray<Act> => {
  if (partial === "") return acts
  let left = partial
  return acts.flatMap((act): ReadonlyArray<Act> => {
    if (act._tag === "Wait" || act._tag === "Think") return []
    if (act._tag !== "Say" || left === "") return [act]
    const full = act.deltas.join("")
    const same = full.startsWith(left) ? left : left.startsWith(full) ? full : ""
    left = same === "" ? "" : left.slice(same.length)
    let skip = same.length
    const deltas = act.deltas.flatMap((delta) => {
      const cut = Math.min(skip, delta.length)
      skip -= cut
      return cut === delta.length ? [] : [delta.slice(cut)]
    })
    return [{ ...act, deltas }]
  })
}

const words = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length

const textOfAct = (act: Act): string => {
  switch (act._tag) {
    case "Say":
      return act.deltas.join("")
    case "Think":
    case "Refuse":
      return act.text
    case "Call":
      return act.argumentsText
    default:
      return ""
  }
}

type Step = Effect.Effect<Chunk.Chunk<ModelEvent>, ModelFailure>

/** Sockets are served at least this often, as they are with a model at the other side of one. */
const BREATH_MILLIS = 4

let breathedAt = 0
const breathe = Effect.async<void>((resume) => {
  const immediate = setImmediate(() => {
    breathedAt = performance.now()
    resume(Effect.void)
  })
  return Effect.sync(() => clearImmediate(immediate))
})
const breath = Effect.suspend(() => (performance.now() - breathedAt < BREATH_MILLIS ? Effect.yieldNow() : breathe))

const pause = (millis: number): Effect.Effect<void> => (millis > 0 ? Effect.sleep(millis) : breath)

const steps = (act: Act, index: number): ReadonlyArray<Step> => {
  const block = `demo-${index}`
  switch (act._tag) {
    case "Fail":
      return [Effect.fail(act.failure)]
    case "Wait":
      return [Effect.as(Effect.sleep(act.millis), Chunk.empty())]
    case "Call":
      return [
        Effect.succeed(
          Chunk.of({ _tag: "Call", providerCallId: block, name: act.name, argumentsText: act.argumentsText })
        )
      ]
    case "Refuse":
      return [Effect.succeed(Chunk.of({ _tag: "Refusal", block, delta: act.text }))]
    case "Think": {
      const thought = inPieces(act.text)
      const deltas = thought._tag === "Say" ? thought.deltas : []
      const thoughts = deltas.map((delta): Step => Effect.as(pause(0), Chunk.of({ _tag: "Reasoning", block, delta })))
      return [...thoughts, Effect.succeed(Chunk.of({ _tag: "ReasoningEnd", block }))]
    }
    case "Say":
      return act.deltas.map(
        (delta, at): Step => Effect.as(pause(at === 0 ? 0 : act.everyMillis), Chunk.of({ _tag: "Text", block, delta }))
      )
  }
}

const finishReason = (acts: ReadonlyArray<Act>): FinishReason => {
  if (acts.some((act) => act._tag === "Call")) return "tool_calls"
  return acts.some((act) => act._tag === "Refuse") ? "content_filter" : "stop"
}

const generate = (request: GenerateRequest): Answer => {
  const { messages, partial } = situationOf(request.messages)
  const acts = remainder(actsFor(messages), partial)
  const reason = finishReason(acts)
  const finish: ModelEvent = {
    _tag: "Finish",
    finishReason: reason,
    nativeStopReason: reason,
    usage: {
      inputTokens: request.messages.reduce((sum, message) => sum + words(spoken(message)), 0),
      outputTokens: acts.reduce((sum, act) => sum + words(textOfAct(act)), 0)
    },
    warnings: []
  }
  const said = [...acts.flatMap(steps), Effect.succeed(Chunk.of(finish))].values()
  return Effect.succeed(
    Effect.suspend(() => {
      const { done, value } = said.next()
      return done === true ? Effect.fail(Option.none()) : Effect.asSomeError(value)
    })
  )
}

/** The model that is always there: does what the prompt says, the same every time, and pretends nothing. */
export const demoModel: ResolvedModel = {
  name: "demo/demo",
  provider: "demo",
  model: "demo",
  thinkingLevels: [],
  takesImages: true,
  nativeJson: false,
  generate
}
