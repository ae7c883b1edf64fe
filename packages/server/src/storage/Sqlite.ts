import * as Reactivity from "@effect/experimental/Reactivity"
import type * as SqlError from "@effect/sql/SqlError"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Context, Effect, Layer } from "effect"
import { migrate } from "./Migrations.ts"

export type SqlValue = string | number | null

/**
 * Runs one statement. `Row` is what the SQL says it selects: tables are STRICT and only this program writes them, so rows
 * are typed where the SQL stands and not decoded again.
 */
export type Query = <Row = unknown>(
  sql: string,
  params?: ReadonlyArray<SqlValue>
) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** `full`: a commit is on the disk when it is answered. `normal`: a power cut may take the last ones, a crash never. */
export type Durability = "full" | "normal"

/** One server's database: a connection that writes, for the commit room alone, and one that only reads. */
export class Database extends Context.Tag("@harness/server/Database")<
  Database,
  { readonly filename: string; readonly read: Query; readonly write: Query }
>() {
  static readonly layer = (filename: string, durability: Durability) =>
    Layer.scoped(Database, open(filename, durability))
}

// A lock is waited for with Effect.sleep in the commit room; SQLite itself would block the event loop.
const pragmas = (durability: Durability) => [
  "PRAGMA busy_timeout = 0",
  `PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`,
  "PRAGMA foreign_keys = ON",
  "PRAGMA journal_size_limit = 8388608"
]

const open = (filename: string, durability: Durability) =>
  Effect.gen(function* () {
    const writer = yield* SqliteClient.make({ filename, prepareCacheTTL: "1 day" })
    const write = yield* writer.reserve
    for (const pragma of pragmas(durability)) yield* write.executeUnprepared(pragma, [], undefined)
    const query: Query = (sql, params = []) => write.execute(sql, params, undefined)
    yield* migrate(query)
    const reader = yield* SqliteClient.make({ filename, readonly: true, disableWAL: true, prepareCacheTTL: "1 day" })
    const read = yield* reader.reserve
    yield* read.executeUnprepared("PRAGMA busy_timeout = 0", [], undefined)
    return Database.of({
      filename,
      write: query,
      read: (sql, params = []) => read.execute(sql, params, undefined)
    })
  }).pipe(Effect.provide(Reactivity.layer))
