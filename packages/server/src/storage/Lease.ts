import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import type * as SqlError from "@effect/sql/SqlError"
import { ConflictError } from "@harness/protocol"
import { Clock, Effect } from "effect"
import type { Query } from "./Sqlite.ts"

/** A lease silent for this long may be taken over. */
export const LEASE_SILENT_MILLIS = 10_000

interface Holder {
  readonly host: string
  readonly pid: number
  /** Tells this process from a later one with the same pid, where the system says. */
  readonly born: string
}

interface LeaseRow {
  readonly generation: number
  readonly holder: string
  readonly heartbeat: number
}

const STATE = 0
const START_TIME = 19

/** What the system knows of a process, from its state on; undefined where it says nothing. */
const statOf = (pid: number): ReadonlyArray<string> | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")
  } catch {
    return undefined
  }
}

const bornOf = (pid: number): string => statOf(pid)?.[START_TIME] ?? ""

const self: Holder = { host: hostname(), pid: process.pid, born: bornOf(process.pid) }

const alive = (pid: number): boolean => {
  // Ended, and not yet collected by its parent.
  if (statOf(pid)?.[STATE] === "Z") return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** A holder on this machine whose process is gone needs no waiting for. */
const gone = (holder: Holder): boolean =>
  holder.host === self.host && (!alive(holder.pid) || (holder.born !== "" && bornOf(holder.pid) !== holder.born))

const held = (holder: Holder) =>
  new ConflictError({
    code: "writer.held",
    message: `process ${holder.pid} on ${holder.host} is writing this server's database`,
    retryable: true,
    details: { host: holder.host, pid: holder.pid }
  })

/** Takes the right to write, or says who has it. A new generation makes the former holder's next commit fail. */
export const acquireLease = (query: Query): Effect.Effect<number, ConflictError | SqlError.SqlError> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* query("BEGIN IMMEDIATE")
    const [row] = yield* query<LeaseRow>("SELECT generation, holder, heartbeat FROM lease WHERE id = 1")
    if (row !== undefined) {
      const holder: Holder = JSON.parse(row.holder)
      const fresh = now - row.heartbeat < LEASE_SILENT_MILLIS
      if (row.heartbeat > 0 && fresh && !gone(holder)) {
        yield* query("ROLLBACK")
        return yield* held(holder)
      }
    }
    const generation = (row?.generation ?? 0) + 1
    yield* query(
      "INSERT INTO lease (id, generation, holder, heartbeat) VALUES (1, ?, ?, ?) " +
        "ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, holder = excluded.holder, heartbeat = excluded.heartbeat",
      [generation, JSON.stringify(self), now]
    )
    yield* query("COMMIT")
    return generation
  })

/** Gives the lease back on a clean stop, so that the next process need not wait. */
export const releaseLease = (query: Query, generation: number): Effect.Effect<void> =>
  Effect.ignore(query("UPDATE lease SET heartbeat = 0 WHERE generation = ?", [generation]))
