import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { PermissionRequest, Question, TurnSnapshot } from "@harness/protocol"
import { counter } from "./asks.ts"
import type { Mortal } from "./crash.ts"
import { Fold } from "./fold.ts"
import { type Answer, readUntil, wire } from "./wire.ts"

type Api = ReturnType<typeof wire>

/** What a session's people are asked just now. */
export interface Asks {
  readonly permissions: ReadonlyArray<PermissionRequest>
  readonly questions: ReadonlyArray<Question>
}

const lookAt = async (api: Api, home: string): Promise<Asks> => ({
  permissions: (await api.get(`${home}/permissions`)).body.permissions,
  questions: (await api.get(`${home}/questions`)).body.questions
})

/** The ids of asks, whatever they are. */
export const idsOf = ({ permissions, questions }: Asks): ReadonlyArray<string> => [
  ...permissions.map(({ requestId }) => requestId),
  ...questions.map(({ questionId }) => questionId)
]

/**
 * Somebody who works in one session through one death: whatever was not answered is asked again of the server that came
 * after. `fallen` settles when that one is up.
 */
export const tenacious = (server: Mortal, fallen: Promise<unknown>, session: string, root: string) => {
  const home = `/sessions/${session}`
  let known: Asks = { permissions: [], questions: [] }
  /** What was open when it was last looked at before the death, and what was right after it. */
  const told: { open: { readonly before: Asks; readonly after: Asks } | undefined } = { open: undefined }

  const ask = async <A>(send: (api: Api) => Promise<A>): Promise<A> => {
    for (;;) {
      const asked = await server.up()
      try {
        return await send(wire(asked))
      } catch (error) {
        // Only a death excuses an answer that did not come.
        await fallen
        const next = await server.up()
        if (next === asked) throw error
        told.open ??= { before: known, after: await lookAt(wire(next), home) }
      }
    }
  }
  const must = async (status: number, send: (api: Api) => Promise<Answer>): Promise<Answer["body"]> => {
    const answer = await ask(send)
    if (answer.status !== status) throw new Error(`status ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** The turn once a fact of it is so; one that ends without is an error. */
  const until = async (turnId: string, fact: (turn: TurnSnapshot) => boolean): Promise<TurnSnapshot> => {
    const turn = await ask(async (api) => {
      const fold = new Fold()
      await readUntil(api.events(`${home}/turns/${turnId}/events`), (event) => {
        fold.take(event)
        const now = fold.turns.get(turnId)
        return now !== undefined && fact(now)
      })
      return fold.turns.get(turnId)
    })
    if (turn === undefined || !fact(turn)) throw new Error(`${turnId} ended: ${JSON.stringify(turn)}`)
    return turn
  }

  return {
    /** As often as it takes, of whichever server lives. */
    ask,
    home,
    /** The same for an answer of this status; its body. */
    must,
    root,
    session,
    told,
    until,
    /** A session in a folder of its own that holds `count.sh`. */
    begin: async (config: object) => {
      mkdirSync(join(root, session))
      counter(join(root, session))
      await must(201, (api) => api.put(home, { workdir: session, ...config }))
    },
    prompt: (turnId: string, content: string, more: object = {}) =>
      must(202, (api) => api.put(`${home}/turns/${turnId}`, { content: `${session}: ${content}`, ...more })),
    waits: (turnId: string, fact: (turn: TurnSnapshot) => boolean = () => true) =>
      until(turnId, (turn) => turn.state === "waiting" && fact(turn)),
    ended: (turnId: string) => until(turnId, ({ settledAt }) => settledAt !== undefined),
    /** What is open now; remembered for whoever compares it with what is open after the death. */
    asks: async (): Promise<Asks> => {
      known = await ask((api) => lookAt(api, home))
      return known
    }
  }
}

export type Tenacious = ReturnType<typeof tenacious>
