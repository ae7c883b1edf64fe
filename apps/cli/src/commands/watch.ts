import type { ClientError } from "@harness/client"
import type { ServerName, SessionId, TurnId } from "@harness/protocol"
import { Duration, Effect, Stream } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { misused } from "../failures.ts"
import { lossNotice } from "../lossNotice.ts"
import { EventLines, type WatchedEvent } from "../render/EventLines.ts"
import { Surroundings } from "../Surroundings.ts"
import { withBelow } from "./below.ts"

interface WatchOptions extends Where {
  readonly server: ServerName
  readonly session: SessionId | undefined
  readonly turn: TurnId | undefined
  readonly after: number | undefined
  readonly json: boolean
}

/** Shows events until there are no more, or nobody wants them. */
export const watch = ({ after, json, server, session, turn, ...where }: WatchOptions): Running =>
  Effect.gen(function* () {
    const { err, out } = yield* Surroundings
    if (turn !== undefined && session === undefined) return yield* misused("--turn needs --session")
    const { ask, client } = yield* connect(where)
    // A stream waits for a server that went away; one that was never there is an error.
    yield* ask(client.system.health)
    const loss = yield* lossNotice
    const follow = { server, after, maxDowntime: Duration.infinity, onLost: loss.lost }
    const ofSession = (sessionId: SessionId): Stream.Stream<WatchedEvent, ClientError> => {
      const own = client.followSession({ ...follow, sessionId })
      // A program gets the session's own stream, as it is.
      return json
        ? own
        : withBelow(client, { server, sessionId, maxDowntime: Duration.infinity, onLost: loss.lost }, own)
    }
    const events: Stream.Stream<WatchedEvent, ClientError> =
      session === undefined
        ? client.followServer(follow)
        : turn === undefined
          ? ofSession(session)
          : client.followTurn({ ...follow, sessionId: session, turnId: turn })
    const lines = new EventLines(out)
    if (err.isTerminal && !json) {
      yield* err.write(`${err.style.dim(`watching ${turn ?? session ?? server}; Ctrl-C ends it`)}\n`)
    }
    yield* ask(
      Stream.runForEach(events, (event) =>
        Effect.zipRight(loss.found, out.write(json ? `${JSON.stringify(event)}\n` : lines.take(event)))
      )
    )
  })
