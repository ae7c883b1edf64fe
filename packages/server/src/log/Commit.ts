import * as SqlError from "@effect/sql/SqlError"
import { ConflictError } from "@harness/protocol"
import { Cause, Clock, Context, Deferred, Duration, Effect, Exit, Layer, Queue, Schedule } from "effect"
import { acquireLease, LEASE_SILENT_MILLIS, releaseLease } from "../storage/Lease.ts"
import { Database, type Query } from "../storage/Sqlite.ts"
import { CrashPoints } from "./CrashPoints.ts"
import { encodeBody, type FactMeta, type LogRow } from "./fact.ts"
import { Hub } from "./Hub.ts"
import { slices } from "./Slices.ts"

/** What a command works with. It may run a second time after a rollback, so whatever else it does goes through `after`. */
export interface Tx {
  readonly now: number
  /** `now` as the wire says it. */
  readonly at: string
  readonly query: Query
  /** A row of the log; its session and turn positions are the caller's, the server's are given here. */
  readonly append: (
    row: { sessionId: string; cursor: number; turnId?: string; revision?: number; type: string },
    meta: FactMeta,
    fields: object
  ) => Effect.Effect<void, SqlError.SqlError>
  /** Runs once, when the batch is committed and published. */
  readonly after: (run: () => void) => void
  /** Names the ● that this command is, when it has written everything. */
  readonly point: (name: string, sessionId: string) => void
}

/** A refusal (`E`) is decided before the first write: one that comes later is a defect, and is rolled back. */
export type Command<A, E> = (tx: Tx) => Effect.Effect<A, E | SqlError.SqlError>

/** All writes of a server, one after another, as many to a disk sync as are waiting. */
export class CommitRoom extends Context.Tag("@harness/server/CommitRoom")<
  CommitRoom,
  { readonly commit: <A, E>(command: Command<A, E>) => Effect.Effect<A, E> }
>() {
  static readonly layer: Layer.Layer<CommitRoom, ConflictError | SqlError.SqlError, Database | Hub> = Layer.scoped(
    CommitRoom,
    Effect.suspend(() => make)
  )
}

const BATCH_MAX = 256
const WAITING_MAX = 1024
/** While turns wait for their slices, their commands come one by one: a batch waits this long for more of them. */
const GATHER_MILLIS = 5
/** How long a lock of another process is waited for. */
const patience = Schedule.spaced("20 millis").pipe(Schedule.upTo(Duration.seconds(15)))

/** One command on its way through the room, its types closed over. */
interface Guest {
  /** `refused`: it said no. `broken`: it died, or SQLite did. */
  readonly attempt: (tx: Tx) => Effect.Effect<"done" | "refused" | "broken">
  readonly settle: () => void
  readonly fail: (cause: Cause.Cause<never>) => void
}

const guest = <A, E>(command: Command<A, E>, done: Deferred.Deferred<A, E>): Guest => {
  let exit: Exit.Exit<A, E | SqlError.SqlError> = Exit.die("a command that never ran")
  return {
    attempt: (tx) =>
      Effect.map(Effect.exit(command(tx)), (result) => {
        exit = result
        if (Exit.isSuccess(result)) return "done"
        const refusal = Cause.failureOption(result.cause)
        return refusal._tag === "Some" && !(refusal.value instanceof SqlError.SqlError) ? "refused" : "broken"
      }),
    settle: () => Deferred.unsafeDone(done, Exit.mapErrorCause(exit, dieOnSql)),
    fail: (cause) => Deferred.unsafeDone(done, Exit.failCause(cause))
  }
}

/** A broken disk is nobody's to handle. */
const dieOnSql = <E>(cause: Cause.Cause<E | SqlError.SqlError>): Cause.Cause<E> =>
  Cause.flatMap(cause, (error) => (error instanceof SqlError.SqlError ? Cause.die(error) : Cause.fail(error)))

const isBusy = (error: SqlError.SqlError): boolean =>
  typeof error.cause === "object" &&
  error.cause !== null &&
  "code" in error.cause &&
  String(error.cause.code).startsWith("SQLITE_BUSY")

// Between the first command and the batch, sockets are read once more: who is already there comes along.
const nextTick = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const gather = Effect.suspend(() => {
  const until = slices.now() + GATHER_MILLIS
  return Effect.repeat(nextTick, { while: () => slices.isBehind && slices.now() < until })
})

const moment = Schedule.spaced("100 millis").pipe(Schedule.upTo(Duration.seconds(1)))

const make = Effect.gen(function* () {
  const database = yield* Database
  const hub = yield* Hub
  const query = database.write
  const points = yield* CrashPoints
  const waiting = yield* Queue.bounded<Guest>(WAITING_MAX)

  const generation = yield* Effect.acquireRelease(
    acquireLease(query).pipe(
      Effect.retry({ while: (error) => error instanceof SqlError.SqlError && isBusy(error), schedule: patience }),
      // A process that was just told to stop may need a moment.
      Effect.retry({ while: (error) => error instanceof ConflictError, schedule: moment })
    ),
    (held) => releaseLease(query, held)
  )
  const [head] = yield* query<{ head: number }>("SELECT coalesce(max(server_cursor), 0) AS head FROM event")
  let serverCursor = head?.head ?? 0
  hub.begin(serverCursor)

  const transaction = (guests: ReadonlyArray<Guest>, now: number): Effect.Effect<"done" | "again", SqlError.SqlError> =>
    Effect.gen(function* () {
      const [lease] = yield* query<{ generation: number }>("SELECT generation FROM lease WHERE id = 1")
      if (lease?.generation !== generation) {
        const lost = new ConflictError({
          code: "writer.held",
          message: "another process took over this server's database"
        })
        for (const one of guests) one.fail(Cause.die(lost))
        yield* query("ROLLBACK")
        return "done"
      }
      const rows: Array<LogRow> = []
      const after: Array<() => void> = []
      const at = new Date(now).toISOString()
      const tx: Tx = {
        now,
        at,
        query,
        after: (run) => after.push(run),
        point: (name, sessionId) => {
          points.pass(`before-${name}`, sessionId)
          after.push(() => points.pass(`after-${name}`, sessionId))
        },
        append: (row, meta, fields) => {
          const stored: LogRow = {
            serverCursor: serverCursor + rows.length + 1,
            sessionId: row.sessionId,
            cursor: row.cursor,
            turnId: row.turnId ?? null,
            revision: row.revision ?? null,
            type: row.type,
            body: encodeBody(
              { sessionId: row.sessionId, cursor: row.cursor, at, turnId: row.turnId, revision: row.revision },
              meta,
              fields
            )
          }
          rows.push(stored)
          return query(
            "INSERT INTO event (server_cursor, session_id, session_cursor, turn_id, turn_revision, type, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
              stored.serverCursor,
              stored.sessionId,
              stored.cursor,
              stored.turnId,
              stored.revision,
              stored.type,
              stored.body
            ]
          )
        }
      }
      for (const one of guests) {
        const before = rows.length
        const outcome = yield* one.attempt(tx)
        if (outcome === "broken" || (outcome === "refused" && rows.length > before)) {
          yield* query("ROLLBACK")
          if (guests.length > 1) return "again"
          // Alone and guilty: a refusal after a write is a defect too.
          if (outcome === "refused") one.fail(Cause.die(new Error("a command refused after it had written")))
          else one.settle()
          return "done"
        }
      }
      yield* query("COMMIT")
      serverCursor += rows.length
      hub.publish(rows)
      for (const one of guests) one.settle()
      for (const run of after) run()
      return "done"
    })

  const begin = query("BEGIN IMMEDIATE").pipe(
    Effect.retry({ while: isBusy, schedule: patience }),
    Effect.withTracerEnabled(false)
  )

  const runBatch = (guests: ReadonlyArray<Guest>): Effect.Effect<void> =>
    begin.pipe(
      Effect.zipRight(Clock.currentTimeMillis),
      // Whole: columns of times are integers, and a test's clock may stand between two.
      Effect.flatMap((now) => transaction(guests, Math.floor(now))),
      // From BEGIN to publish nobody else runs: a reader never sees a row that the hub has not shown.
      Effect.withMaxOpsBeforeYield(1_000_000_000),
      Effect.withTracerEnabled(false),
      Effect.flatMap((outcome) =>
        outcome === "done" ? Effect.void : Effect.forEach(guests, (one) => runBatch([one]), { discard: true })
      ),
      Effect.catchAllCause((cause) =>
        Effect.zipRight(
          Effect.ignore(query("ROLLBACK")),
          Effect.sync(() => {
            const broken = dieOnSql<never>(cause)
            for (const one of guests) one.fail(broken)
          })
        )
      ),
      Effect.withSpan("CommitRoom.batch", { attributes: { size: guests.length } })
    )

  // Who was taken is written, also when the room closes just then.
  const round = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const first = yield* restore(Queue.take(waiting))
      yield* gather
      const rest = (yield* Queue.isShutdown(waiting)) ? [] : yield* Queue.takeUpTo(waiting, BATCH_MAX - 1)
      yield* runBatch([first, ...rest])
    })
  )
  yield* Effect.forkScoped(Effect.forever(round))
  // Runs before the lease is given back: what waits is still written, what comes later is refused.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      const rest = yield* Queue.takeAll(waiting)
      yield* Queue.shutdown(waiting)
      if (rest.length > 0) yield* runBatch([...rest])
    })
  )

  const commit = <A, E>(command: Command<A, E>): Effect.Effect<A, E> =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<A, E>()
      yield* Queue.offer(waiting, guest(command, done))
      return yield* Deferred.await(done)
    })

  yield* commit((tx) =>
    tx.query("UPDATE lease SET heartbeat = ? WHERE id = 1 AND generation = ?", [tx.now, generation])
  ).pipe(
    Effect.delay(LEASE_SILENT_MILLIS / 3),
    Effect.catchAllCause((cause) => Effect.logWarning("the lease could not be renewed", cause)),
    Effect.forever,
    Effect.forkScoped
  )

  return CommitRoom.of({ commit })
})
