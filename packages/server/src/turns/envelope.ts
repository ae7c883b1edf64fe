import { createHash } from "node:crypto"
import { type CallResult, type JsonObject, TurnId } from "@harness/protocol"
import { outcomeOf, type TurnRow } from "./TurnsRepo.ts"

/** A short name made of others, the same each time: a crash cannot make two. */
export const derivedId = (prefix: string, ...parts: ReadonlyArray<string>): string =>
  `${prefix}-${createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 24)}`

/** The turn in which a background child's result arrives at its parent. */
export const resultTurnId = (child: TurnRow): TurnId => TurnId.make(derivedId("result", child.sessionId, child.turnId))

/** What a sub-agent's turn came to, as its parent is told. */
export const envelopeOf = (turn: TurnRow): CallResult => {
  const { failure, finalText, stopReason, usage, result, resultError } = outcomeOf(turn)
  const isError = turn.state !== "completed" || resultError !== undefined
  const details: JsonObject = {
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    state: turn.state,
    stopReason,
    ...(finalText === undefined ? {} : { text: finalText }),
    ...(result === undefined ? {} : { result }),
    ...(resultError === undefined ? {} : { resultError }),
    usage,
    ...(isError ? { code: turn.state === "cancelled" ? "task.cancelled" : "task.failed" } : {})
  }
  const said = result === undefined ? (finalText ?? "") : JSON.stringify(result)
  const why = resultError ?? failure?.message ?? `The sub-agent's turn ended ${turn.state}.`
  const text = isError ? why : said
  return { content: [{ type: "text", text: text === "" ? "The sub-agent said nothing." : text }], isError, details }
}
