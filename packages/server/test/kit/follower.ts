import type { Mortal } from "./crash.ts"
import { readUntil, type WireEvent, wire } from "./wire.ts"

/** Somebody who follows a session's stream for good: whenever it ends, they come back after the last row they have. */
export const followSession = (server: Mortal, session: string, onFrame: () => void = () => {}) => {
  /** Every row as it came, by cursor. */
  const seen = new Map<number, string>()
  const problems: Array<string> = []
  const leaving = new AbortController()
  let last = 0
  const take = ({ data, id }: WireEvent) => {
    onFrame()
    if (id === undefined) return
    if (id !== last + 1) problems.push(`${session}: row ${id} came after ${last}`)
    last = id
    seen.set(id, JSON.stringify(data))
  }
  const follow = async () => {
    while (!leaving.signal.aborted) {
      const from = await server.up()
      try {
        const path = `/sessions/${session}/events?afterCursor=${last}`
        for await (const event of wire(from).events(path, leaving.signal)) take(event)
      } catch (error) {
        if (!leaving.signal.aborted && (await server.up()) === from) problems.push(`${session}: ${String(error)}`)
      }
    }
  }
  const done = follow()
  return {
    seen,
    problems,
    leave: async () => {
      leaving.abort()
      await done
    }
  }
}

/** A session's whole log, read from its first row to where the stream says it is caught up. */
export const wholeLog = async (api: ReturnType<typeof wire>, session: string): Promise<ReadonlyArray<WireEvent>> => {
  const frames = await readUntil(
    api.events(`/sessions/${session}/events?afterCursor=0`),
    ({ type }) => type === "session.cursor"
  )
  if (frames.at(-1)?.type !== "session.cursor") throw new Error(`the log of ${session} broke off`)
  return frames.filter(({ id }) => id !== undefined)
}
