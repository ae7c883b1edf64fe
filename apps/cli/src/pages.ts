import type { ClientError } from "@harness/client"
import { Effect } from "effect"

/** Every page of a list, one after the other. */
export const everyPage = <A>(
  page: (
    after: string | undefined
  ) => Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly next: string | null }, ClientError>
): Effect.Effect<ReadonlyArray<A>, ClientError> =>
  Effect.gen(function* () {
    const all: Array<A> = []
    for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
      const { items, next } = yield* page(after)
      all.push(...items)
      after = next ?? undefined
    }
    return all
  })
