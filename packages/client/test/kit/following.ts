import { Chunk, Effect, Stream } from "effect"
import { HarnessClient } from "../../src/Client.ts"
import { untilDone } from "./clock.ts"
import type { Asked, fakeFetch } from "./fakeFetch.ts"
import { session } from "./log.ts"

export type Fake = ReturnType<typeof fakeFetch>
/** A client of a fake server below a path. */
export const clientOf = (fake: Fake) =>
  HarnessClient.make({ baseUrl: "http://fake.test/base/", token: "secret", clientId: "test", fetch: fake.fetch })

/** The queries a fake server was asked. */
export const queries = (asked: ReadonlyArray<Asked>) => asked.map(({ url }) => url.search)
/** What was said, and where in the session's log. */
export const titles = (events: Chunk.Chunk<{ readonly type: string }>) =>
  Chunk.toReadonlyArray(events).map((event) =>
    "cursor" in event && event.type !== "session.deleted" ? `${event.type} ${event.cursor}` : event.type
  )

/** Follows the session to its end, however long that takes. */
export const followed = (fake: Fake, options: { readonly after?: number } = {}) =>
  Effect.gen(function* () {
    const client = yield* clientOf(fake)
    const fiber = yield* Effect.fork(Stream.runCollect(client.followSession({ ...session, ...options })))
    return yield* untilDone(fiber)
  })
