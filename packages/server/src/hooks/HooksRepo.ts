import type { HookId, HookResponseValue } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"
import type { Tx } from "../log/Commit.ts"
import { fromColumn } from "../storage/columns.ts"
import { Database } from "../storage/Sqlite.ts"

/** A hook over HTTP as it is kept. */
export interface HookRow extends Omit<HookResponseValue, "secret"> {
  readonly secret: string
}

interface Row extends Omit<HookRow, "functions"> {
  readonly functions: string | null
}

const columns =
  'hook_id AS "hookId", point, url, functions, priority, timeout_millis AS "timeoutMillis", on_error AS "onError", secret'

const toHook = ({ functions, ...row }: Row): HookRow => ({
  ...row,
  ...(functions === null ? {} : { functions: fromColumn<ReadonlyArray<string>>(functions) })
})

const find = (tx: Tx, hookId: string) =>
  Effect.map(tx.query<Row>(`SELECT ${columns} FROM hook WHERE hook_id = ?`, [hookId]), ([row]) =>
    row === undefined ? undefined : toHook(row)
  )

const put = (tx: Tx, hook: HookRow) =>
  tx.query(
    "INSERT OR REPLACE INTO hook (hook_id, point, url, functions, priority, timeout_millis, on_error, secret) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [
      hook.hookId,
      hook.point,
      hook.url,
      hook.functions === undefined ? null : JSON.stringify(hook.functions),
      hook.priority,
      hook.timeoutMillis,
      hook.onError,
      hook.secret
    ]
  )

/** Answers the row that went, if there was one. */
const remove = (tx: Tx, hookId: HookId) => tx.query("DELETE FROM hook WHERE hook_id = ? RETURNING hook_id", [hookId])

const make = Effect.gen(function* () {
  const { read } = yield* Database
  return {
    /** In the order they are asked: priority, then id. */
    all: read<Row>(`SELECT ${columns} FROM hook ORDER BY priority, hook_id`).pipe(
      Effect.map((rows) => rows.map(toHook)),
      Effect.orDie
    ),
    /** By id, after one. */
    page: (after: string, limit: number) =>
      read<Row>(`SELECT ${columns} FROM hook WHERE hook_id > ? ORDER BY hook_id LIMIT ?`, [after, limit]).pipe(
        Effect.map((rows) => rows.map(toHook)),
        Effect.orDie
      )
  }
})

/** The hook table. Writing is for commands alone. */
export class HooksRepo extends Context.Tag("@harness/server/HooksRepo")<
  HooksRepo,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(HooksRepo, make)
  static readonly find = find
  static readonly put = put
  static readonly remove = remove
}
