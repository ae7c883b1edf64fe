import { join } from "node:path"
import type { TurnSnapshot } from "@harness/protocol"
import { expect } from "vitest"
import { asking, callsOf, counted, counter } from "./asks.ts"
import { wholeLog } from "./follower.ts"
import { historyProblems, logProblems } from "./logLaws.ts"
import { pages, stage } from "./stage.ts"

/** A stage with what tests of the loop need: sessions that ask, a script that counts its runs, and a look at the laws. */
export const loopStage = (...options: Parameters<typeof stage>) => {
  const on = stage(...options)
  const asks = asking(on.api)
  /** What a session's log holds of one type of event, oldest first. */
  const told = async (name: string, type: string) =>
    (await wholeLog(await on.api(), name)).flatMap((row) => (row.type === `session.turn.${type}` ? [row.data] : []))
  return {
    ...on,
    ...asks,
    told,
    /** A second, in milliseconds, on a machine that has better things to do: as long as a plain prompt takes here and now on top. */
    soon: async (): Promise<number> => {
      const began = performance.now()
      const api = await on.api()
      await api.put(`/sessions/soon/turns/t${began}?waitMillis=60000`, { content: "hello", session: {} })
      return 1000 + 4 * (performance.now() - began)
    },
    /** A session where nothing is allowed unasked but reading, with `count.sh` in its folder. */
    asksSession: async (name: string, more: object = {}): Promise<string> => {
      const home = await on.session(name, { permissions: [], ...more })
      counter(join(on.place.root, name))
      return home
    },
    /** What was counted in the session's folder. */
    ran: (name: string): ReadonlyArray<string> => counted(join(on.place.root, name)),
    /** Open requests in the order of the calls that wait for them. */
    inOrder: async (home: string, turn: TurnSnapshot) => {
      const requests = await asks.open(home)
      return callsOf(turn).flatMap(({ callId }) => requests.find((request) => request.callId === callId) ?? [])
    },
    /** The session's log and history keep the laws. */
    sound: async (name: string): Promise<void> => {
      const { get } = await on.api()
      expect(historyProblems(await pages(get, `/sessions/${name}/history`, "entries"))).toEqual([])
      expect(logProblems(await wholeLog(await on.api(), name))).toEqual([])
    }
  }
}
