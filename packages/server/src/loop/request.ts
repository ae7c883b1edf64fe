import { Effect } from "effect"
import { pruned } from "../compaction/plan.ts"
import { roomOf, tokensOfText, totalTokens } from "../compaction/tokens.ts"
import { HistoryRepo, type StoredEntry } from "../history/HistoryRepo.ts"
import { type Generation, type GenerationVerdict, Hooks } from "../hooks/Hooks.ts"
import type { GenerateRequest, ModelMessage } from "../providers/Model.ts"
import { configurationOf } from "../sessions/SessionsRepo.ts"
import { derivedId } from "../turns/envelope.ts"
import { isLine } from "../turns/lines.ts"
import { Progress } from "../turns/Progress.ts"
import { optionsOf, outcomeOf, type PartRow, type TurnRow } from "../turns/TurnsRepo.ts"
import { voiceInstruction } from "../voice/instruction.ts"
import { compactNow } from "./compact.ts"
import { systemPrompt, toMessages, withPartial } from "./context.ts"
import { INVALID_NOTICE } from "./deliverable.ts"
import type { Growing } from "./Growing.ts"
import { instructionsOf } from "./instructions.ts"
import { subjectOf } from "./judge.ts"
import { agentOf } from "./rulebooks.ts"
import type { Stage } from "./Stage.ts"
import { WHOLE_STEPS, WORTH } from "./summary.ts"
import type { Toolbox } from "./Toolbox.ts"

/** Makes the history shorter by a summary. Answers the entries then, or nothing when too little was gained. */
export const compactFor = (stage: Stage, entries: ReadonlyArray<StoredEntry>, tokens: number) =>
  Effect.gen(function* () {
    if (stage.crowded) return undefined
    const history = yield* HistoryRepo
    const { attempt, sessionId, turnId } = stage.held.turn
    const step = String(outcomeOf(stage.held.turn).steps.length)
    // One that a crash cut has failed; the next attempt makes its own.
    const id = derivedId("auto", turnId, String(attempt), step, String(entries.length), String(entries.at(-1)?.ord))
    const before = totalTokens(entries)
    const done = yield* compactNow(sessionId, id, stage.model, { tokens, units: WHOLE_STEPS })
    const now = yield* history.forModel(sessionId)
    if (done && totalTokens(now) <= before * WORTH) return now
    stage.crowded = true
    return done ? now : undefined
  })

/** The history as it fits the model's window: as it is, with old results left out, or summarised. */
const fitted = (stage: Stage, entries: ReadonlyArray<StoredEntry>, fixed: number) =>
  Effect.gen(function* () {
    const room = roomOf(stage.model)
    const fits = (some: ReadonlyArray<StoredEntry>) => {
      stage.load = totalTokens(some) + fixed
      return room === undefined || stage.load <= room
    }
    if (fits(entries)) return entries
    const shorter = pruned(entries, WHOLE_STEPS)
    if (fits(shorter)) return shorter
    const summarised = yield* compactFor(stage, entries, Math.max(0, Math.floor(((room ?? 0) - fixed) * 0.4)))
    if (summarised === undefined) return undefined
    const last = pruned(summarised, WHOLE_STEPS)
    return fits(last) ? last : undefined
  })

/** How to speak on a call, for a turn that is one's. */
const instructionsOfCall = ({ sound }: Stage, toolbox: Toolbox): ReadonlyArray<string> => {
  if (sound === undefined) return []
  const { language } = sound
  const controls = toolbox.specs.map(({ name }) => name)
  return [voiceInstruction({ controls, ...(language === undefined ? {} : { language }) })]
}

const size = (value: unknown): number => tokensOfText(JSON.stringify(value))

/**
 * The request of a step over the history `stored`, as the hooks before it let it go; `Overflow` when it cannot be made to
 * fit. `draft`: its name, when nobody has asked for the answer yet.
 */
export const requestOf = (
  stage: Stage,
  turn: TurnRow,
  toolbox: Toolbox,
  stored: ReadonlyArray<StoredEntry>,
  draft?: string
) =>
  Effect.gen(function* () {
    const hooks = yield* Hooks
    const progress = yield* Progress
    const { held, growing, model } = stage
    const agent = yield* agentOf(held.session.workdir, turn.agent)
    const prompt = systemPrompt({
      agent: agent.prompt,
      turn: optionsOf(turn).systemPrompt,
      session: configurationOf(held.session).systemPrompt,
      mode: turn.mode,
      instructions: [...(yield* instructionsOf(held.session.workdir)), ...instructionsOfCall(stage, toolbox)]
    })
    const fixed = size(prompt) + size(toolbox.specs) + tokensOfText(growing.text)
    const entries = yield* fitted(stage, stored, fixed)
    if (entries === undefined) return { _tag: "Overflow" } as const
    const parts = yield* progress.parts(held.turn)
    const said = toMessages(entries, model.provider, (name) => toolbox.modelName(name))
    const verdict: GenerationVerdict = yield* hooks.preGenerate(
      { ...subjectOf({ ...held, turn }), draft },
      {
        systemPrompt: prompt,
        messages: withPartial([...said, ...nudge(parts, growing)], growing.text)
      }
    )
    return verdict
  })

/** What the model is asked with. */
export const toSend = (
  { crew, model }: Pick<Stage, "crew" | "model">,
  turn: TurnRow,
  toolbox: Toolbox,
  { messages, systemPrompt }: Generation
): GenerateRequest => {
  const { thinking } = optionsOf(turn)
  return {
    system: systemPrompt,
    messages,
    tools: toolbox.specs,
    ...(thinking !== undefined && model.thinkingLevels.includes(thinking) ? { thinking } : {}),
    ...(crew.deliverable?.native === true ? { output: { schema: crew.deliverable.schema } } : {})
  }
}

/** After an answer that broke its contract: what was wrong with it. Told once, and not stored. */
const nudge = (parts: ReadonlyArray<PartRow>, growing: Growing): ReadonlyArray<ModelMessage> => {
  const last = parts
    .filter((row) => row.part.type !== "steer" && row.part.type !== "reasoning" && !isLine(row))
    .at(-1)?.part
  if (growing.begun || last?.type !== "notice" || last.code !== INVALID_NOTICE) return []
  return [{ role: "user", content: [{ type: "text", text: last.message }] }]
}
