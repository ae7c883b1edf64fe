import type { TurnSnapshot } from "@harness/protocol"
import { Chunk, Effect, Stream } from "effect"
import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { foldTurn, HarnessClient } from "../src/Client.ts"
import { type Asked, eventStream, fakeFetch } from "./kit/fakeFetch.ts"
import { slices } from "./kit/frames.ts"
import { onSession, onTurn, session, snapshot, turn } from "./kit/log.ts"
import { anyStep, type Told, tell } from "./kit/story.ts"

/** How one connection goes: how far the world has come when it opens, after which byte it breaks, into which pieces its bytes are cut. */
interface Luck {
  readonly progress: number
  readonly bytes: number
  readonly places: ReadonlyArray<number>
  readonly ending: "end" | "cut"
  readonly crlf: boolean
}

const anyLuck: fc.Arbitrary<Luck> = fc.record({
  progress: fc.nat({ max: 12 }),
  bytes: fc.nat({ max: 2_500 }),
  places: fc.array(fc.nat(), { maxLength: 12 }),
  ending: fc.constantFrom("end" as const, "cut" as const),
  crlf: fc.boolean()
})

const encoder = new TextEncoder()

/** A server whose connections have this luck, one after another; the last one holds. */
const unlucky = (
  lucks: ReadonlyArray<Luck>,
  frames: (after: number | undefined, progress: number) => ReadonlyArray<string>
) => {
  let progress = 0
  return fakeFetch((asked: Asked & { readonly signal: AbortSignal | null | undefined }, nth) => {
    const luck = lucks[nth - 1]
    progress += luck?.progress ?? 1_000_000
    const [position] = [...asked.url.searchParams.values()]
    const all = frames(position === undefined ? undefined : Number(position), progress).join("")
    const bytes = encoder.encode(luck?.crlf === true ? all.replaceAll("\n", "\r\n") : all)
    if (luck === undefined) return eventStream([bytes], "end", asked)
    return eventStream(slices(bytes.subarray(0, luck.bytes), luck.places), luck.ending, asked)
  })
}

const clientOf = (fake: ReturnType<typeof fakeFetch>) =>
  HarnessClient.make({
    baseUrl: "http://fake.test",
    fetch: fake.fetch,
    backoff: { first: 0, longest: 0 }
  })

const rowOf = (told: Told, last: TurnSnapshot) =>
  told.row === undefined ? "" : told.row.revision === last.revision ? onTurn.terminal(last) : onTurn.snapshot(told.row)

const previewOf = ({ delta }: Told) =>
  delta === undefined ? "" : onTurn.delta(delta.partId, delta.offset, delta.delta, delta.attempt)

describe("L3: a reader that is cut at any byte and resumes", () => {
  it("gets every row of a session once, in order", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.nat({ max: 10 }),
        fc.array(anyLuck, { maxLength: 10 }),
        fc.boolean(),
        async (rows, after, lucks, again) => {
          const fake = unlucky(lucks, (held = 0, progress) => {
            const head = Math.min(rows, progress)
            // A careless server sends the last row once more, and says where it stands in between.
            const from = again ? held : held + 1
            const log = Array.from({ length: rows + 1 }, (_, n) => n).filter((cursor) => cursor >= Math.max(1, from))
            return [
              ...log.filter((cursor) => cursor <= head).map(onSession.title),
              ": caught up\n\n",
              onSession.cursor(Math.max(held, head)),
              ...log
                .filter((cursor) => cursor > head)
                .flatMap((cursor) => [onSession.title(cursor), onSession.cursor(cursor)]),
              onSession.deleted(rows + 1)
            ]
          })
          const start = Math.min(after, rows)
          const events = await Effect.runPromise(
            Effect.flatMap(clientOf(fake), (client) =>
              Stream.runCollect(client.followSession({ ...session, after: start }))
            )
          )
          const got = Chunk.toReadonlyArray(events).flatMap((event) =>
            event.type === "session.title" || event.type === "session.deleted" ? [event.cursor] : []
          )
          expect(got).toEqual(Array.from({ length: rows + 1 - start }, (_, n) => start + n + 1))
        }
      ),
      { numRuns: 60 }
    ))

  it("L4: holds what the server has after every row of a turn, and at its end", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 30 }),
        fc.array(anyLuck, { maxLength: 10 }),
        fc.boolean(),
        async (steps, lucks, fromStart) => {
          const story = tell([...steps, { kind: "close" }, { kind: "note" }])
          const end: TurnSnapshot = { ...(story.at(-1)?.turn ?? snapshot(1)), state: "completed" }
          const fake = unlucky(lucks, (held, progress) => {
            // What a reader holds has happened, however little of the world had come when its connection opened.
            const told = held === undefined ? 0 : story.findIndex(({ turn }) => turn.revision === held)
            const now = Math.max(told, Math.min(progress, story.length - 2))
            const present = story[now]?.turn ?? snapshot(1)
            const opening =
              held === undefined
                ? [onTurn.opening(present)]
                : [
                    ...story
                      .slice(0, now + 1)
                      .filter(({ row }) => row !== undefined && row.revision > held)
                      .map((told) => rowOf(told, end)),
                    onTurn.opening(present)
                  ]
            return [
              ...opening,
              onTurn.heartbeat(Math.max(held ?? 0, present.revision)),
              ...story.slice(now + 1).map((told) => rowOf(told, end) + previewOf(told))
            ]
          })
          const seen: Array<number> = []
          let held: TurnSnapshot | undefined
          await Effect.runPromise(
            Effect.flatMap(clientOf(fake), (client) =>
              client.followTurn({ ...turn, after: fromStart ? 0 : undefined }).pipe(
                Stream.runForEach((event) =>
                  Effect.sync(() => {
                    held = foldTurn(held, event)
                    if (!("at" in event)) return
                    seen.push(event.revision)
                    const truth = story.find(({ row }) => row?.revision === event.revision)?.turn
                    expect(held).toEqual(event.type === "turn.terminal" ? end : truth)
                  })
                )
              )
            )
          )
          expect(held).toEqual(end)
          const first = fromStart ? 1 : (seen[0] ?? 1)
          expect(seen).toEqual(Array.from({ length: end.revision - first + 1 }, (_, n) => first + n))
        }
      ),
      { numRuns: 60 }
    ))
})
