import { Clock, Context, Effect, FiberSet, Layer, Option, Random } from "effect"
import { CommitRoom } from "../log/Commit.ts"
import { Database } from "../storage/Sqlite.ts"
import { type OutboxLine, OutboxRepo, type OutboxRow } from "./OutboxRepo.ts"
import { listen } from "./outbox.ts"
import { makePost } from "./post.ts"
import { signedHeaders } from "./signing.ts"
import { type WebhookRow, WebhooksRepo } from "./WebhooksRepo.ts"

/** Lines of one server told at the same time, and of those for one webhook. */
const IN_FLIGHT_MAX = 16
const IN_FLIGHT_OF_ONE = 4
/** Events of one line told in one go, before others have their turn. */
const IN_ONE_GO = 32
const TIMEOUT_MILLIS = 15_000
const ANSWER_MAX_BYTES = 65_536
const FIRST_DELAY_MILLIS = 1_000
const DELAY_MAX_MILLIS = 3_600_000
/** An event that could not be told for this long is given up. */
export const GIVE_UP_MILLIS = 86_400_000

const BREATH = "1 second"

const keyOf = ({ sessionId, webhookId }: OutboxLine): string => `${webhookId}/${sessionId}`

const delayOf = (attempts: number) =>
  Effect.map(Random.nextRange(0.8, 1.2), (jitter) =>
    Math.round(Math.min(FIRST_DELAY_MILLIS * 2 ** Math.min(attempts, 30), DELAY_MAX_MILLIS) * jitter)
  )

const make = Effect.gen(function* () {
  const room = yield* CommitRoom
  const { write } = yield* Database
  const repo = yield* OutboxRepo
  const webhooks = yield* WebhooksRepo
  const post = yield* makePost
  const bell = yield* Effect.makeLatch(true)
  const start = yield* FiberSet.makeRuntime<never>()
  const flying = new Map<string, OutboxLine>()
  const ring = () => bell.unsafeOpen()

  /** Tells one event once. None: it was taken. */
  const tell = ({ secret, url }: WebhookRow, { body, messageId }: OutboxRow) =>
    Effect.gen(function* () {
      const nowMillis = yield* Clock.currentTimeMillis
      const headers = signedHeaders({ secret, id: messageId, nowMillis, body })
      const { status } = yield* post({
        url,
        headers,
        body,
        timeoutMillis: TIMEOUT_MILLIS,
        maxBytes: ANSWER_MAX_BYTES
      })
      return status >= 200 && status <= 299 ? Option.none() : Option.some(`It answered with status ${status}.`)
    }).pipe(
      Effect.catchAll(({ reason }) => Effect.succeed(Option.some(reason))),
      Effect.withSpan("webhooks.tell")
    )

  const failed = (tried: WebhookRow, row: OutboxRow, attempts: number, reason: string) =>
    Effect.gen(function* () {
      const { serverCursor, sessionId, webhookId } = row
      const now = yield* Clock.currentTimeMillis
      const over = now - row.createdAt >= GIVE_UP_MILLIS
      const delay = yield* delayOf(attempts)
      yield* room.commit<void, never>((tx) =>
        Effect.gen(function* () {
          if (over) return yield* OutboxRepo.remove(tx, row, attempts)
          const webhook = yield* WebhooksRepo.find(tx, webhookId)
          // It was changed while the old one was tried: the new one has its first try at once.
          if (webhook?.url !== tried.url || webhook.secret !== tried.secret) {
            yield* OutboxRepo.rest(tx, row, 0, tx.now)
          } else yield* OutboxRepo.rest(tx, row, attempts + 1, tx.now + delay)
        })
      )
      const annotations = { webhookId, sessionId, serverCursor, attempts: attempts + 1, reason }
      if (over) yield* Effect.annotateLogs(Effect.logError("a webhook's event is given up"), annotations)
      else if (attempts === 0) yield* Effect.annotateLogs(Effect.logWarning("a webhook does not answer"), annotations)
      return over
    })

  /** A line's events, one after another, until one is not taken. */
  const deliver = (line: OutboxLine) =>
    Effect.gen(function* () {
      let { attempts } = line
      for (let told = 0; told < IN_ONE_GO; told++) {
        const row = yield* repo.head(line)
        const webhook = yield* webhooks.find(line.webhookId)
        if (row === undefined || webhook === undefined) return
        const refusal = yield* tell(webhook, row)
        if (Option.isSome(refusal)) {
          if (yield* failed(webhook, row, attempts, refusal.value)) continue
          return
        }
        attempts = 0
        yield* room.commit<void, never>((tx) => OutboxRepo.remove(tx, row, 0))
      }
    })

  const fly = (line: OutboxLine) => {
    const key = keyOf(line)
    flying.set(key, line)
    start(
      deliver(line).pipe(
        // The disk, most likely: the line is due again, and not in a hurry.
        Effect.catchAllCause((cause) =>
          Effect.zipRight(Effect.logError("a delivery broke", cause), Effect.sleep(BREATH))
        ),
        Effect.ensuring(
          Effect.sync(() => {
            flying.delete(key)
            ring()
          })
        )
      )
    )
  }

  const ofWebhook = (webhookId: string): number =>
    [...flying.values()].filter((line) => line.webhookId === webhookId).length

  const dispatch = (now: number) =>
    Effect.gen(function* () {
      for (const webhookId of yield* repo.due(now)) {
        const free = Math.min(IN_FLIGHT_OF_ONE - ofWebhook(webhookId), IN_FLIGHT_MAX - flying.size)
        if (free <= 0) continue
        // Those in flight are due still.
        const lines = yield* repo.lines(webhookId, now, IN_FLIGHT_OF_ONE * 2)
        for (const line of lines.filter((line) => !flying.has(keyOf(line))).slice(0, free)) fly(line)
      }
    })

  const round = Effect.gen(function* () {
    yield* bell.close
    const now = yield* Clock.currentTimeMillis
    yield* dispatch(now)
    const next = yield* repo.nextAt(now)
    const rest = next === undefined ? Effect.never : Effect.sleep(next - now)
    yield* Effect.raceFirst(bell.await, rest)
  })

  listen(write, ring)
  yield* round.pipe(
    Effect.catchAllCause((cause) => Effect.zipRight(Effect.logError("deliveries broke", cause), Effect.sleep(BREATH))),
    Effect.forever,
    Effect.forkScoped
  )
  return { flying: () => flying.size }
})

/**
 * Tells webhooks what is in their outbox: at least once, each session's events in order, again and again with growing pauses
 * for a day, from where it stood after a restart.
 */
export class Deliveries extends Context.Tag("@harness/server/Deliveries")<
  Deliveries,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.scoped(Deliveries, make)
}
