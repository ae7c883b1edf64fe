import type { TurnSnapshot } from "@harness/protocol"
import { insist, type Mortal } from "./crash.ts"
import { wholeLog } from "./follower.ts"
import type { Rows } from "./logLaws.ts"
import { pages } from "./stage.ts"
import type { Seen } from "./treeWatch.ts"
import type { Answer } from "./wire.ts"

/** One session as it stands at the end. */
export interface Stand {
  readonly sessionId: string
  /** The call whose sub-agent works here. */
  readonly spawnedBy: string | undefined
  readonly rows: Rows
  readonly turns: ReadonlyArray<TurnSnapshot>
  readonly entries: ReadonlyArray<Answer["body"]>
  readonly status: Answer["body"]
  /** Asks that are still open here or below, by id; read of the root alone. */
  readonly open: ReadonlyArray<string>
}

/** Reads one session whole, of whichever server lives. */
export const readStand = (server: Mortal, { depth, sessionId }: Seen): Promise<Stand> =>
  insist(server, async (api) => {
    const home = `/sessions/${sessionId}`
    const get = async (path: string) => (await api.get(`${home}${path}`)).body
    const lists =
      depth > 0
        ? []
        : [
            ...(await get("/permissions")).permissions,
            ...(await get("/descendants/permissions")).permissions,
            ...(await get("/questions")).questions,
            ...(await get("/descendants/questions")).questions
          ]
    const rows = await wholeLog(api, sessionId)
    return {
      sessionId,
      spawnedBy: rows[0]?.data.session.spawnedFrom?.callId,
      rows,
      turns: await pages(api.get, `${home}/turns`, "turns"),
      entries: await pages(api.get, `${home}/history`, "entries"),
      status: await get("/status"),
      open: lists.map(({ questionId, requestId }) => requestId ?? questionId)
    }
  })
