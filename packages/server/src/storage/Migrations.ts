import type * as SqlError from "@effect/sql/SqlError"
import { Effect } from "effect"
import { core } from "./migrations/0001_core.ts"
import { asks } from "./migrations/0002_asks.ts"
import { webhooks } from "./migrations/0003_webhooks.ts"
import { voice } from "./migrations/0004_voice.ts"
import { voiceFacts } from "./migrations/0005_voice_facts.ts"
import type { Query } from "./Sqlite.ts"

/** In order; a released one never changes. */
const migrations: ReadonlyArray<ReadonlyArray<string>> = [core, asks, webhooks, voice, voiceFacts]

const versionOf = (query: Query) =>
  Effect.map(query<{ user_version: number }>("PRAGMA user_version"), ([row]) => row?.user_version ?? 0)

/** Brings a database to this program's shape, each step in one transaction. A newer database is refused. */
export const migrate = (query: Query): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    const version = yield* versionOf(query)
    if (version > migrations.length) {
      return yield* Effect.dieMessage(`the database is of version ${version}, this program knows ${migrations.length}`)
    }
    for (const [index, statements] of migrations.entries()) {
      if (index < version) continue
      yield* query("BEGIN IMMEDIATE")
      yield* Effect.gen(function* () {
        // Another process may have taken this step since.
        if ((yield* versionOf(query)) <= index) {
          yield* Effect.forEach(statements, (statement) => query(statement), { discard: true })
          yield* query(`PRAGMA user_version = ${index + 1}`)
        }
        yield* query("COMMIT")
      }).pipe(Effect.tapErrorCause(() => Effect.ignore(query("ROLLBACK"))))
    }
  })
