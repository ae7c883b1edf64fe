import { createHash } from "node:crypto"
import { MAX_WIRE_BYTES } from "@harness/protocol"
import { Clock, Effect } from "effect"
import { type AskedHook, HookFailure, type HookRequest } from "./HookRequest.ts"
import type { HookRow } from "./HooksRepo.ts"
import type { makePost } from "./post.ts"
import { signedHeaders } from "./signing.ts"

const GRACE_MILLIS = 1_000

/** One message asked again is the same message to its receiver. */
const messageId = ({ hookId, idempotencyKey, point }: HookRequest): string =>
  `hook_${createHash("sha256").update(`${hookId}\n${point}\n${idempotencyKey}`).digest("base64url")}`

/** A hook of the table, asked over HTTP: a signed POST, answered by JSON, or by 204 for "go on". */
export const httpHook = (
  post: Effect.Effect.Success<typeof makePost>,
  { secret, url, ...hook }: HookRow
): AskedHook => ({
  ...hook,
  ask: (request) =>
    Effect.gen(function* () {
      const body = JSON.stringify(request)
      const nowMillis = yield* Clock.currentTimeMillis
      const headers = signedHeaders({ secret, id: messageId(request), nowMillis, body })
      // Whoever asks has the last word about the time.
      const timeoutMillis = hook.timeoutMillis + GRACE_MILLIS
      const { status, text, truncated } = yield* post({
        url,
        headers,
        body,
        timeoutMillis,
        maxBytes: MAX_WIRE_BYTES
      }).pipe(Effect.mapError(({ reason }) => new HookFailure({ reason })))
      if (status === 204) return {}
      if (status < 200 || status > 299) return yield* new HookFailure({ reason: `It answered with status ${status}.` })
      if (truncated) return yield* new HookFailure({ reason: `Its answer is longer than ${MAX_WIRE_BYTES} bytes.` })
      return yield* Effect.try({
        try: (): unknown => JSON.parse(text),
        catch: () => new HookFailure({ reason: "Its answer is not JSON." })
      })
    })
})
