import { setTimeout as delay } from "node:timers/promises"
import { isTerminal, type TurnPart } from "@harness/protocol"
import { Happenings, type Mortal } from "./crash.ts"
import { LOOKUP } from "./treePlan.ts"
import { type WireEvent, wire } from "./wire.ts"

/** Something a session waits for, and whether it still does. */
export interface Ask {
  readonly kind: "permission" | "question" | "external"
  readonly id: string
  readonly sessionId: string
  readonly turnId: string
  readonly open: boolean
}

/** A session, as the server's stream told of it. */
export interface Seen {
  readonly sessionId: string
  readonly depth: number
  /** Turns that were told of, and their states. */
  readonly turns: Map<string, string>
  readonly asks: Map<string, Ask>
  /** Every row by cursor, as it came. */
  readonly rows: Map<number, WireEvent>
}

/** Milliseconds in which something must happen, also on a machine that has better things to do. */
const SILENCE = 180_000

/** A root and everything below it. */
export class Tree {
  readonly sessions = new Map<string, Seen>()
  readonly news = new Happenings()
  /** Grows with everything that happens here. */
  age = 0

  /** Nothing is under way, as far as was heard. */
  get quiet(): boolean {
    return [...this.sessions.values()].every(({ turns }) => [...turns.values()].every((state) => state === "ended"))
  }
  /** Nothing will happen here of its own accord, as far as was heard. */
  get still(): boolean {
    return [...this.sessions.values()].every(({ turns }) => {
      const states = [...turns.values()]
      return !states.includes("running") && (states.includes("waiting") || !states.includes("queued"))
    })
  }
  /** Settles with the next thing that happens. Silence is an error: there is always somebody who works, or a death. */
  async more(): Promise<void> {
    const silence = delay(SILENCE, "silence" as const, { ref: false })
    if ((await Promise.race([this.news.after(1), silence])) !== "silence") return
    const open = [...this.sessions.values()].flatMap(({ sessionId, turns }) =>
      [...turns].flatMap(([turnId, state]) => (state === "ended" ? [] : [`${turnId} of ${sessionId} is ${state}`]))
    )
    throw new Error(`nothing happens any more: ${[...open, ...this.asks.map((ask) => JSON.stringify(ask))].join(", ")}`)
  }
  get asks(): ReadonlyArray<Ask> {
    return [...this.sessions.values()].flatMap(({ asks }) => [...asks.values()])
  }
}

const parts = (turn: { readonly parts: ReadonlyArray<TurnPart> }) => turn.parts

const take = (seen: Seen, { data, type }: WireEvent) => {
  const { turnId } = data
  const ask = (kind: Ask["kind"], id: string, open: boolean) =>
    seen.asks.set(id, { kind, id, sessionId: seen.sessionId, turnId, open })
  switch (type.replace("session.turn.", "")) {
    case "snapshot":
      seen.turns.set(turnId, isTerminal(data.turn.state) ? "ended" : data.turn.state)
      for (const part of parts(data.turn)) {
        if (part.type === "tool" && part.name === LOOKUP.name) ask("external", part.callId, part.state === "waiting")
      }
      break
    case "approval.requested":
      ask("permission", data.request.requestId, true)
      break
    case "approval.resolved":
      ask("permission", data.requestId, false)
      break
    case "question.asked":
      ask("question", data.question.questionId, true)
      break
    case "question.replied":
    case "question.rejected":
      ask("question", data.questionId, false)
      break
  }
}

/** Follows a server's stream for good, over its deaths, and keeps what it tells of each tree of sessions by its root. */
export const watchTrees = (server: Mortal, onFrame: () => void) => {
  const trees = new Map<string, Tree>()
  const roots = new Map<string, Tree>()
  const problems: Array<string> = []
  const leaving = new AbortController()
  let last = 0

  const treeOf = (root: string) => {
    const tree = trees.get(root) ?? new Tree()
    trees.set(root, tree)
    return tree
  }
  const meet = (session: { sessionId: string; spawnedFrom?: { sessionId: string } }) => {
    if (roots.has(session.sessionId)) return
    const above = session.spawnedFrom?.sessionId ?? ""
    const tree = roots.get(above) ?? treeOf(session.sessionId)
    const depth = (tree.sessions.get(above)?.depth ?? -1) + 1
    roots.set(session.sessionId, tree)
    tree.sessions.set(session.sessionId, {
      sessionId: session.sessionId,
      depth,
      turns: new Map(),
      asks: new Map(),
      rows: new Map()
    })
  }
  const hear = (event: WireEvent) => {
    const { data, id, type } = event
    onFrame()
    if (type === "server.cursor") last = Math.max(last, data.serverCursor)
    if (type === "server.cursor" || id === undefined) return
    if (id < last || (id === last && data.replayed !== true)) problems.push(`${type} at ${id} after ${last}`)
    last = id
    if (type === "session.created") meet(data.session)
    const tree = roots.get(data.sessionId)
    const seen = tree?.sessions.get(data.sessionId)
    if (tree === undefined || seen === undefined) {
      problems.push(`${type} of nobody at ${id}`)
      return
    }
    if (data.replayed === true) return
    if (seen.rows.has(data.cursor)) problems.push(`${data.sessionId}: row ${data.cursor} came twice`)
    seen.rows.set(data.cursor, event)
    take(seen, event)
    tree.age += 1
    tree.news.happen()
  }
  const follow = async () => {
    while (!leaving.signal.aborted) {
      const from = await server.up()
      try {
        for await (const event of wire(from).events(`/events?afterServerCursor=${last}`, leaving.signal)) hear(event)
      } catch (error) {
        if (!leaving.signal.aborted && (await server.up()) === from) problems.push(String(error))
      }
    }
  }
  const done = follow()
  return {
    /** The tree of a root. */
    tree: treeOf,
    problems,
    leave: async () => {
      leaving.abort()
      await done
    }
  }
}
