import type { SessionId, ToolTurnPart, TurnId } from "@harness/protocol"
import { Effect } from "effect"
import type { Tx } from "../log/Commit.ts"
import { configurationOf, SessionsRepo } from "../sessions/SessionsRepo.ts"
import { requestHash } from "../storage/columns.ts"
import { interrupted } from "../turns/recover.ts"
import { DETACHED } from "../turns/settle.ts"
import { TurnsRepo } from "../turns/TurnsRepo.ts"
import { lateTurn } from "./requests.ts"
import type { LateOwn } from "./scene.ts"

const keyOf = ({ arguments: args, name }: ToolTurnPart): string => requestHash({ name, args })
const isDetached = ({ result }: ToolTurnPart) => result?.details?.["code"] === DETACHED

/**
 * Calls of our own tools that the caller's words left running and of which nobody was told before the process ended: they
 * ended with it. `turns`: from the oldest on.
 */
export const leftRunning = (tx: Tx, sessionId: SessionId, turns: ReadonlyArray<TurnId>) =>
  Effect.gen(function* () {
    const session = yield* SessionsRepo.find(tx, sessionId)
    const outside = new Set(session === undefined ? [] : configurationOf(session).externalTools.map(({ name }) => name))
    const calls: Array<ToolTurnPart> = []
    for (const turnId of turns) {
      for (const { part } of yield* TurnsRepo.parts(tx.query, sessionId, turnId)) {
        if (part.type === "tool" && !outside.has(part.name)) calls.push(part)
      }
    }
    const found: Array<LateOwn> = []
    for (const [index, call] of calls.entries()) {
      // Who asked for the same again has what came of it.
      const again = calls.slice(index + 1).some((other) => keyOf(other) === keyOf(call))
      if (!isDetached(call) || again) continue
      if ((yield* TurnsRepo.find(tx, sessionId, lateTurn(call.callId))) !== undefined) continue
      found.push({ callId: call.callId, name: call.name, result: interrupted })
    }
    return found
  })
