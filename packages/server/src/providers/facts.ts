import type { ThinkingLevel } from "@harness/protocol"

/** How a provider is spoken to. */
export type Family = "responses" | "chat" | "anthropic" | "google"

/** How a model is spoken to, as far as its name tells. */
export interface ModelFacts {
  readonly thinkingLevels: ReadonlyArray<ThinkingLevel>
  /** Anthropic: thinks by effort instead of a budget of tokens. Google: by level. */
  readonly thinksByEffort: boolean
  readonly takesImages: boolean
  readonly takesPdf: boolean
  readonly nativeJson: boolean
}

/** `major * 100 + minor`, so that versions compare as numbers. */
const version = (pattern: RegExp, model: string): number | undefined => {
  const match = pattern.exec(model)
  return match === null ? undefined : Number(match[1]) * 100 + Number(match[2] ?? 0)
}

const openaiThinking = (model: string): ReadonlyArray<ThinkingLevel> => {
  if (/^o\d/.test(model)) return ["low", "medium", "high"]
  const gpt = version(/^gpt-(\d+)(?:\.(\d+))?(?=-|$)/, model)
  if (gpt === undefined || gpt < 500 || model.includes("chat")) return []
  if (gpt === 500) return ["minimal", "low", "medium", "high"]
  return gpt === 501 ? ["low", "medium", "high"] : ["low", "medium", "high", "xhigh"]
}

const anthropicFacts = (model: string): ModelFacts => {
  // claude-opus-4-5, claude-sonnet-4-20250514: a date is no minor version.
  const claude = version(/claude-[a-z]+-(\d+)(?:-(\d{1,2})(?=-|$))?/, model)
  const is37 = model.includes("claude-3-7")
  const current = claude !== undefined && claude >= 400
  const byEffort = claude !== undefined && claude >= 406
  return {
    thinkingLevels: byEffort
      ? claude >= 407
        ? ["low", "medium", "high", "xhigh"]
        : ["low", "medium", "high"]
      : current || is37
        ? ["minimal", "low", "medium", "high", "xhigh"]
        : [],
    thinksByEffort: byEffort,
    takesImages: true,
    takesPdf: true,
    nativeJson: claude !== undefined && claude >= 405
  }
}

const googleFacts = (model: string): ModelFacts => {
  const gemini = version(/gemini-(\d+)(?:\.(\d+))?/, model)
  const byLevel = gemini !== undefined && gemini >= 300
  const flash = model.includes("flash")
  const levels: ReadonlyArray<ThinkingLevel> = byLevel
    ? flash
      ? ["minimal", "low", "medium", "high"]
      : gemini === 300
        ? ["low", "high"]
        : ["low", "medium", "high"]
    : gemini === 205
      ? ["minimal", "low", "medium", "high", "xhigh"]
      : []
  return {
    thinkingLevels: model.includes("image") || model.includes("tts") ? [] : levels,
    thinksByEffort: byLevel,
    takesImages: gemini !== undefined,
    takesPdf: gemini !== undefined,
    // Older ones take either tools or a response schema, not both.
    nativeJson: byLevel
  }
}

/** What `model` can do; a name nobody knows is taken for a plain model that can see. */
export const factsOf = (family: Family, model: string): ModelFacts => {
  if (family === "anthropic") return anthropicFacts(model)
  if (family === "google") return googleFacts(model)
  return {
    thinkingLevels: openaiThinking(model),
    thinksByEffort: true,
    takesImages: !/^gpt-3\.5/.test(model),
    takesPdf: family === "responses" && !/^gpt-3\.5/.test(model),
    nativeJson: !/^gpt-(3\.5|4($|-))/.test(model)
  }
}
