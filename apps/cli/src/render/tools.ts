import type { PromptPart, ToolTurnPart } from "@harness/protocol"
import type { Style } from "./style.ts"
import { oneLine } from "./text.ts"

type Json = ToolTurnPart["arguments"]

/** Arguments as short as they can be said: a single text stands for itself. */
export const argumentsText = (args: Json, limit = 120): string => {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return oneLine(JSON.stringify(args), limit)
  const values = Object.values(args)
  const [only] = values
  return values.length === 1 && typeof only === "string" ? oneLine(only, limit) : oneLine(JSON.stringify(args), limit)
}

/** What a call came to, on one line. */
export const resultText = (content: ReadonlyArray<PromptPart>, limit = 120): string => {
  const text = content
    .map((part) => (part.type === "text" ? part.text : `(${part.mime})`))
    .join(" ")
    .trim()
  return text === "" ? "(nothing)" : oneLine(text, limit)
}

/** A call that is asked for. */
export const callLine = (name: string, args: Json, style: Style): string =>
  `${style.cyan("→")} ${style.bold(oneLine(name, 64))} ${argumentsText(args)}`

/** A call that is over. */
export const settledLine = (
  name: string,
  state: ToolTurnPart["state"],
  content: ReadonlyArray<PromptPart>,
  style: Style
): string => {
  const said = resultText(content)
  return state === "completed"
    ? `${style.green("←")} ${oneLine(name, 64)} ${said}`
    : `${style.red("←")} ${oneLine(name, 64)} ${style.red(state)}: ${said}`
}
