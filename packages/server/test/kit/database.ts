import { createRequire } from "node:module"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

/** As much of better-sqlite3 as tests use to look into a server's database from outside. */
interface Connection {
  readonly prepare: (sql: string) => { readonly get: (...params: ReadonlyArray<unknown>) => unknown }
  readonly exec: (sql: string) => unknown
  readonly close: () => void
}

// The driver is a dependency of the package that the server reaches SQLite through.
const require = createRequire(createRequire(import.meta.url).resolve("@effect/sql-sqlite-node"))
const Database: new (file: string, options?: { readonly readonly: boolean }) => Connection = require("better-sqlite3")

/** Where the database of a server is. */
export const databaseFile = (data: string, name = "default"): string => join(data, "servers", name, "harness.db")

/** Settles once a query selects something: for what is stored and told to nobody. */
export const stored = async (data: string, sql: string, ...params: ReadonlyArray<unknown>): Promise<void> => {
  const connection = new Database(databaseFile(data), { readonly: true })
  const query = connection.prepare(sql)
  while (query.get(...params) === undefined) await delay(10)
  connection.close()
}

/** What a query selects first, just now. */
export const selected = (data: string, sql: string, ...params: ReadonlyArray<unknown>): unknown => {
  const connection = new Database(databaseFile(data), { readonly: true })
  const row = connection.prepare(sql).get(...params)
  connection.close()
  return row
}

/** Takes the write lock of a server's database, as another process would, until it is released. */
export const holdWriteLock = (data: string): { readonly release: () => void } => {
  const connection = new Database(databaseFile(data))
  connection.exec("BEGIN IMMEDIATE")
  return {
    release: () => {
      connection.exec("ROLLBACK")
      connection.close()
    }
  }
}
