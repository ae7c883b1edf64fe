import type { TurnPart, TurnSnapshot } from "@harness/protocol"
import type { Style } from "./style.ts"
import { columns, harmless, oneLine } from "./text.ts"
import { callLine, settledLine } from "./tools.ts"

type Usage = TurnSnapshot["usage"]

/** `12 in, 34 out, $0.0021`; only what is known. */
export const usageText = ({ costUsd, inputTokens, outputTokens }: Usage): string =>
  [
    ...(inputTokens === undefined ? [] : [`${inputTokens} in`]),
    ...(outputTokens === undefined ? [] : [`${outputTokens} out`]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(4)}`])
  ].join(", ")

/** How a turn ended, where that is more than its state says. */
export const endText = ({
  failure,
  state,
  stopReason
}: Pick<TurnSnapshot, "failure" | "state" | "stopReason">): string => {
  if (failure !== undefined) return `${state}: ${oneLine(failure.message === "" ? failure.code : failure.message, 300)}`
  return stopReason === undefined || stopReason === "end" || stopReason === state ? state : `${state} (${stopReason})`
}

const painted = (state: TurnSnapshot["state"], style: Style) => {
  if (state === "failed") return style.red
  if (state === "completed") return style.green
  return state === "cancelled" ? style.yellow : style.cyan
}

/** Under an answer: whose it was, and what it cost. */
export const turnSummary = (turn: TurnSnapshot, style: Style): string => {
  const early = turn.stopReason === undefined || turn.stopReason === "end" ? [] : [`stopped early: ${turn.stopReason}`]
  const said = [...early, `session ${turn.sessionId}`, turn.model, usageText(turn.usage)]
  return `${style.dim(said.filter((text) => text !== "").join(" · "))}\n`
}

const promptText = (turn: TurnSnapshot): string =>
  turn.prompt.content.map((part) => (part.type === "text" ? part.text : `(${part.mime})`)).join(" ")

/** Turns, one to a line. */
export const turnTable = (turns: ReadonlyArray<TurnSnapshot>, style: Style): string =>
  columns(turns.map((turn) => [turn.turnId, turn.acceptedAt, turn.model, turn.state, oneLine(promptText(turn), 60)]))
    .map(([id = "", at = "", model = "", state = "", prompt = ""], index) => {
      const paint = painted(turns[index]?.state ?? "queued", style)
      return `${[style.bold(id), style.dim(at), model, paint(state), prompt].join("  ")}\n`
    })
    .join("")

const partLines = (part: TurnPart, style: Style): ReadonlyArray<string> => {
  switch (part.type) {
    case "text":
    case "refusal":
      return [harmless(part.text)]
    case "reasoning":
      return [style.dim(harmless(part.text))]
    case "tool":
      return [
        callLine(part.name, part.arguments, style),
        ...(part.result === undefined ? [] : [settledLine(part.name, part.state, part.result.content, style)])
      ]
    case "notice":
      return [style.dim(`! ${oneLine(part.message, 400)}`)]
    case "question":
      return [`? ${part.questions.map(({ question }) => oneLine(question)).join(" ")} ${style.dim(part.state)}`]
    case "steer":
      return [
        style.dim(`+ ${part.content.map((one) => (one.type === "text" ? oneLine(one.text) : one.mime)).join(" ")}`)
      ]
  }
}

/** A turn, with everything it did. */
export const turnText = (turn: TurnSnapshot, style: Style): string => {
  const usage = usageText(turn.usage)
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["turn", style.bold(turn.turnId)],
    ["session", turn.sessionId],
    ["state", painted(turn.state, style)(endText(turn))],
    ["model", turn.model],
    ["agent", `${turn.agent} (${turn.mode})`],
    ["accepted", turn.acceptedAt],
    ...(turn.settledAt === undefined ? [] : [["settled", turn.settledAt] as const]),
    ...(usage === "" ? [] : [["usage", usage] as const])
  ]
  const head = rows.map(([name, value]) => `${style.dim(name.padEnd(9))}${value}`)
  const body = turn.parts.flatMap((part) => partLines(part, style))
  return `${[...head, "", style.bold(`> ${harmless(promptText(turn))}`), ...body].join("\n")}\n`
}
