import { type ClientError, mint } from "@harness/client"
import { CompactionId, type ContextCompactionResponseValue, type ServerName, type SessionId } from "@harness/protocol"
import { Effect, Option, Stream } from "effect"
import type { Running } from "../command.ts"
import { type Connected, connect, type Where } from "../connect.ts"
import { type CliFailure, failed, stoppedBy } from "../failures.ts"
import { lossNotice } from "../lossNotice.ts"
import { withoutUndefined } from "../present.ts"
import { answer } from "../render/answer.ts"
import { Surroundings } from "../Surroundings.ts"

interface CompactOptions extends Where {
  readonly server: ServerName
  readonly instructions: string | undefined
  readonly json: boolean
}

type State = ContextCompactionResponseValue["state"]

const hasEnded = (state: State) => state !== "queued" && state !== "running"

/** Follows a compaction to its end: from the row that accepted it on, so that nothing is missed. */
const ended = (
  client: Connected["client"],
  at: { readonly server: string; readonly sessionId: string; readonly compactionId: CompactionId },
  after: number,
  onLost: (error: ClientError) => Effect.Effect<void>,
  onChange: (state: State) => Effect.Effect<void>
) =>
  client.followSession({ ...at, after, maxDowntime: "15 seconds", onLost }).pipe(
    Stream.filterMap((event) =>
      event.type === "session.compaction" && event.compaction.compactionId === at.compactionId
        ? Option.some(event.compaction.state)
        : Option.none()
    ),
    Stream.tap(onChange),
    Stream.takeUntil(hasEnded),
    Stream.runDrain,
    Effect.zipRight(client.compactions.get(at))
  )

const outcome = (compaction: ContextCompactionResponseValue): Effect.Effect<string, CliFailure> => {
  const { boundary, compactionId, failure, state, tokensAfter, tokensBefore } = compaction
  if (state !== "completed") {
    return failed({
      code: failure?.code ?? `compaction.${state}`,
      message: `the compaction ${state === "failed" ? `failed: ${failure?.message ?? "nobody says why"}` : "was cancelled"}`,
      retryable: failure?.retryable ?? false,
      details: { compactionId, state }
    })
  }
  const saved =
    tokensBefore === undefined || tokensAfter === undefined ? "" : `: ${tokensBefore} → ${tokensAfter} tokens`
  const end = boundary === undefined ? "" : `, up to ${"turnId" in boundary ? boundary.turnId : boundary.entryId}`
  return Effect.succeed(`compacted${saved}${end}\n`)
}

/** Compacts a session, and waits until that is done. */
export const compact = ({ instructions, json, server, ...where }: CompactOptions, sessionId: SessionId): Running =>
  Effect.gen(function* () {
    const { err, stopped } = yield* Surroundings
    const { ask, client } = yield* connect(where)
    const at = { server, sessionId, compactionId: CompactionId.make(yield* mint("cmp")) }
    const loss = yield* lossNotice
    const say = (text: string) => (json || !err.isTerminal ? Effect.void : err.write(`${err.style.dim(text)}\n`))
    const working = Effect.gen(function* () {
      const { cursor } = yield* ask(client.compactions.submit({ ...at, ...withoutUndefined({ instructions }) }))
      return yield* ask(
        ended(client, at, Math.max(0, cursor - 1), loss.lost, (state) =>
          Effect.zipRight(loss.found, hasEnded(state) ? Effect.void : say(`… ${state}`))
        )
      )
    })
    const leaving = Effect.gen(function* () {
      const signal = yield* stopped
      yield* client.compactions
        .cancel({ ...at, reason: "stopped at the terminal" })
        .pipe(Effect.timeout("3 seconds"), Effect.ignore)
      return yield* stoppedBy(signal)
    })
    const compaction = yield* Effect.raceFirst(working, leaving)
    const words = yield* outcome(compaction)
    yield* answer(json, compaction, () => words)
  })
