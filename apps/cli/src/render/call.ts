import type { Heard } from "@harness/phone/phoneCall"
import type { Entry, Fault, Report } from "@harness/phone/report"
import type { Style } from "./style.ts"
import { count, harmless, oneLine } from "./text.ts"

const seconds = (at: number) => (at / 1_000).toFixed(3).padStart(8)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const contentOf = (chunk: unknown): unknown => {
  const choices = isObject(chunk) ? chunk["choices"] : undefined
  const [first]: ReadonlyArray<unknown> = Array.isArray(choices) ? choices : []
  const delta = isObject(first) ? first["delta"] : undefined
  return isObject(delta) ? delta["content"] : undefined
}

const field = ([name, value]: readonly [string, unknown]): string =>
  name === "chunk" ? JSON.stringify(contentOf(value) ?? "") : `${name}=${JSON.stringify(value)}`

/** A frame on one line: what it is, and its fields. */
const frameText = (frame: unknown): string => {
  if (!isObject(frame)) return JSON.stringify(frame) ?? "not JSON"
  const { type, ...fields } = frame
  return [String(type), ...Object.entries(fields).map(field)].join(" ")
}

const arrows = { "jambonz → harness": "→", "harness → jambonz": "←", lost: "✗" } as const

/** One frame of a call, as it passes. */
export const entryLine = ({ at, direction, frame }: Entry, style: Style): string => {
  const line = `${seconds(at)} ${arrows[direction]} ${oneLine(frameText(frame), 400)}`
  return `${direction === "lost" ? style.red(line) : direction === "harness → jambonz" ? style.cyan(line) : line}\n`
}

/** What the caller heard of a reply, at the time it was over. */
export const heardLine = (at: number, { cut, kind, text }: Heard, style: Style): string => {
  const who = kind === "reply" ? "" : ` (jambonz: ${kind})`
  return style.bold(`${seconds(at)} ♪ ${harmless(text.trim())}${cut ? " –" : ""}${who}`).concat("\n")
}

/** A rule that was broken. */
export const faultLine = ({ at, kind, message }: Fault, style: Style): string =>
  style.red(`${seconds(at)} ! ${kind}: ${oneLine(message, 400)}`).concat("\n")

const reasons: Readonly<Record<string, string>> = {
  caller_hangup: "the caller hung up",
  harness_hangup: "the agent hung up",
  application_hangup: "the application hung up",
  application_redirect: "the application took the call away",
  transferred: "the call was transferred",
  error: "the call failed"
}

/** How a call went, in a line. */
export const reportLine = ({ durationMs, faults, late, reason }: Report, style: Style): string => {
  const told = [
    `${reasons[reason ?? "error"] ?? reason} after ${(durationMs / 1_000).toFixed(1)} s`,
    ...(late === 0 ? [] : [`${count(late, "frame")} came too late`]),
    ...(faults.length === 0 ? [] : [count(faults.length, "fault")])
  ]
  return style.dim(`* ${told.join(", ")}`).concat("\n")
}

/** A call, for a program: all but its frames, which it has seen. */
export const reportJson = ({ timeline: _, ...report }: Report): string => `${JSON.stringify({ report })}\n`
