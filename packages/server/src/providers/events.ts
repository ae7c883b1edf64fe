import type { LanguageModelV3StreamPart, SharedV3ProviderMetadata, SharedV3Warning } from "@ai-sdk/provider"
import type { FinishReason } from "@harness/protocol"
import { Predicate } from "effect"
import type { ModelEvent } from "./Model.ts"
import { brief, makeDeltas, wellFormed } from "./text.ts"
import { usageOf } from "./usage.ts"

const WARNINGS_MAX = 20

const warningText = (warning: SharedV3Warning): string => {
  const text =
    warning.type === "other"
      ? warning.message
      : `${warning.feature}: ${warning.details ?? (warning.type === "unsupported" ? "not supported" : "adapted")}`
  return brief(wellFormed(text), 300)
}

const found = (metadata: SharedV3ProviderMetadata | undefined, keys: ReadonlyArray<string>): string | undefined => {
  for (const values of Object.values(metadata ?? {})) {
    for (const key of keys) {
      const value = values[key]
      if (typeof value === "string" && value !== "") return value
    }
  }
  return undefined
}

const signatureKeys = ["signature", "reasoningEncryptedContent", "thoughtSignature"]

/** Refusal text of a raw chunk: the packages hand it on as plain text. */
const refusalOf = (raw: unknown): string | undefined => {
  if (!Predicate.isRecord(raw)) return undefined
  if (raw["type"] === "response.refusal.delta") return Predicate.isString(raw["delta"]) ? raw["delta"] : undefined
  const choices = raw["choices"]
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const delta = Predicate.isRecord(choice) ? choice["delta"] : undefined
  const refusal = Predicate.isRecord(delta) ? delta["refusal"] : undefined
  return Predicate.isString(refusal) && refusal !== "" ? refusal : undefined
}

const finishReasons: Record<string, FinishReason> = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter"
}

type FinishPart = Extract<LanguageModelV3StreamPart, { type: "finish" }>

/** Neither a reason nor a word of the provider's own: the answer just stopped. */
export const isCut = ({ finishReason: { raw, unified } }: FinishPart): boolean =>
  raw === undefined && (unified === "other" || unified === "error")

/** Turns a provider's stream parts into our events, one after another; holds what one stream needs remembered. */
export const makeReader = (): ((part: LanguageModelV3StreamPart) => ReadonlyArray<ModelEvent>) => {
  const deltas = makeDeltas()
  const signatures = new Map<string, string>()
  const spoke = new Set<string>()
  const redacted = new Set<string>()
  const warnings: Array<string> = []
  // Provider ids come again after a break, so blocks get names of their own.
  const open = new Map<string, { readonly block: string; readonly kind: "Text" | "Reasoning" }>()
  let count = 0
  let calls = 0
  let refusal: string | undefined
  let refusing = false

  const name = (kind: string) => `${kind}-${count++}`
  const blockOf = (id: string, kind: "Text" | "Reasoning") => {
    const known = open.get(`${kind}:${id}`)
    if (known !== undefined) return known.block
    const block = name(kind === "Text" ? "text" : "reasoning")
    open.set(`${kind}:${id}`, { block, kind })
    return block
  }
  const say = (kind: "Text" | "Reasoning" | "Refusal", block: string, delta: string): ReadonlyArray<ModelEvent> => {
    if (delta === "") return []
    spoke.add(block)
    return [{ _tag: kind, block, delta }]
  }
  const note = (block: string, metadata: SharedV3ProviderMetadata | undefined) => {
    const signature = found(metadata, signatureKeys)
    if (signature !== undefined) signatures.set(block, signature)
  }
  const close = (key: string): ReadonlyArray<ModelEvent> => {
    const known = open.get(key)
    if (known === undefined) return []
    open.delete(key)
    const { block, kind } = known
    const rest = say(kind, block, deltas.end(block))
    if (kind === "Text" || redacted.has(block)) return rest
    const signature = signatures.get(block)
    if (signature === undefined && !spoke.has(block)) return rest
    return [...rest, { _tag: "ReasoningEnd", block, ...(signature === undefined ? {} : { signature }) }]
  }

  const finish = (part: FinishPart): ReadonlyArray<ModelEvent> => {
    const last = [...open.keys()].flatMap(close)
    if (refusing) last.push(...say("Refusal", "refusal", deltas.end("refusal")))
    const mapped = finishReasons[part.finishReason.unified] ?? "other"
    const { raw } = part.finishReason
    return [
      ...last,
      {
        _tag: "Finish",
        finishReason: calls > 0 && (mapped === "stop" || mapped === "other") ? "tool_calls" : mapped,
        ...(raw === undefined ? {} : { nativeStopReason: brief(wellFormed(raw), 100) }),
        usage: usageOf(part.usage),
        warnings: warnings.slice(0, WARNINGS_MAX)
      }
    ]
  }

  // A call waits for what follows it: when that is the end of a cut answer, the call was never meant.
  let held: ReadonlyArray<ModelEvent> = []
  const isAside = ({ type }: LanguageModelV3StreamPart) =>
    type === "tool-call" || type === "raw" || type.startsWith("tool-input")

  const read = (part: LanguageModelV3StreamPart): ReadonlyArray<ModelEvent> => {
    switch (part.type) {
      case "stream-start":
        warnings.push(...part.warnings.map(warningText))
        return []
      case "raw":
        refusal = refusalOf(part.rawValue)
        return []
      case "text-start":
        return [...close(`Text:${part.id}`)]
      case "text-delta": {
        if (refusal !== undefined && part.delta === refusal) {
          refusal = undefined
          refusing = true
          return say("Refusal", "refusal", deltas.push("refusal", part.delta))
        }
        const block = blockOf(part.id, "Text")
        return say("Text", block, deltas.push(block, part.delta))
      }
      case "text-end":
        return close(`Text:${part.id}`)
      case "reasoning-start": {
        const before = close(`Reasoning:${part.id}`)
        const block = blockOf(part.id, "Reasoning")
        note(block, part.providerMetadata)
        const data = found(part.providerMetadata, ["redactedData"])
        if (data === undefined) return before
        redacted.add(block)
        return [...before, { _tag: "RedactedReasoning", block, data }]
      }
      case "reasoning-delta": {
        const block = blockOf(part.id, "Reasoning")
        note(block, part.providerMetadata)
        return say("Reasoning", block, deltas.push(block, part.delta))
      }
      case "reasoning-end": {
        note(blockOf(part.id, "Reasoning"), part.providerMetadata)
        return close(`Reasoning:${part.id}`)
      }
      case "tool-call": {
        if (part.providerExecuted === true) return []
        calls += 1
        // A call's own signature travels as a reasoning part without text, right before it.
        const signature = found(part.providerMetadata, ["thoughtSignature"])
        const call: ModelEvent = {
          _tag: "Call",
          providerCallId: wellFormed(part.toolCallId),
          name: wellFormed(part.toolName),
          argumentsText: wellFormed(part.input)
        }
        if (signature !== undefined) held = [...held, { _tag: "ReasoningEnd", block: name("signature"), signature }]
        held = [...held, call]
        return []
      }
      case "file":
        warnings.push(`The model answered with a file (${brief(wellFormed(part.mediaType), 100)}), which was left out.`)
        return []
      case "finish":
        return finish(part)
      default:
        return []
    }
  }

  return (part) => {
    const events = read(part)
    if (isAside(part) || held.length === 0) return events
    const before = held
    held = []
    return [...before, ...events]
  }
}
