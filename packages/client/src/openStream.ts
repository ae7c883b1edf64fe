import { Effect, Option, type Scope } from "effect"
import type { Connection } from "./Connection.ts"
import { ProtocolMismatch } from "./errors.ts"
import { cut, Fault, refusal, silent, unreachable } from "./Fault.ts"

/** The next bytes of a stream. None: it ended. */
export type Read = Effect.Effect<Uint8Array, Option.Option<Fault>>

/** Opens an event stream. Its connection lives as long as the scope, and not a moment longer. */
export const openStream = (connection: Connection, url: string): Effect.Effect<Read, Fault, Scope.Scope> =>
  Effect.gen(function* () {
    const { signal } = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    const headers = { ...connection.headers, accept: "text/event-stream" }
    const inTime = Effect.timeoutFail({
      duration: connection.silence,
      onTimeout: () => new Fault(silent(connection.silence))
    })
    const response = yield* Effect.tryPromise({
      try: () => connection.fetch(url, { headers, signal, cache: "no-store" }),
      catch: (cause) => new Fault(unreachable(cause))
    }).pipe(inTime)
    if (response.status !== 200) {
      const body = yield* Effect.tryPromise({
        try: () => response.text(),
        catch: (cause) => new Fault(cut(cause))
      }).pipe(inTime)
      return yield* Effect.flatMap(
        refusal(response.status, body, response.headers.get("retry-after") ?? undefined),
        Effect.fail
      )
    }
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true || response.body === null) {
      return yield* Effect.fail(
        new Fault(new ProtocolMismatch({ status: 200, message: "the answer is no event stream" }))
      )
    }
    const reader = response.body.getReader()
    return Effect.tryPromise({ try: () => reader.read(), catch: (cause) => Option.some(new Fault(cut(cause))) }).pipe(
      Effect.flatMap(({ done, value }) => (done ? Effect.fail(Option.none()) : Effect.succeed(value)))
    )
  })
