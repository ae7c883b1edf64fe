import { ConflictError } from "@harness/protocol"
import { Effect, Option } from "effect"
import { Draining } from "../http/Draining.ts"
import { eventStream } from "../http/sse.ts"
import { follow, type Source } from "../log/follow.ts"

const ahead = (head: number) =>
  new ConflictError({
    code: "cursor.ahead",
    message: `the cursor lies ahead of the stream, which is at ${head}`,
    details: { head }
  })

/** Answers with a stream of a source after a position, or live without one. A position nobody has reached is refused. */
export const streamOf = (source: Source, after: Option.Option<number>) =>
  Effect.gen(function* () {
    const draining = yield* Draining
    const head = yield* source.head
    if (Option.isSome(after) && after.value > head) return yield* ahead(head)
    return yield* eventStream((sink) => follow(source, Option.getOrUndefined(after), sink), draining.awaitDraining)
  })
