import { Data, Effect } from "effect"
import { makeRequest } from "../workspace/request.ts"
import { WebAccess } from "../workspace/WebAccess.ts"

/** A call to somebody else that came to nothing: a sentence for people, which names no address. */
export class PostFailure extends Data.TaggedError("PostFailure")<{ readonly reason: string }> {}

/** What is sent, and how long and how much is waited for. */
export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMillis: number
  /** Bytes of the answer that are taken. */
  readonly maxBytes: number
}

/** What came back, whatever its status. */
export interface Posted {
  readonly status: number
  readonly text: string
  /** There was more than `maxBytes`. */
  readonly truncated: boolean
}

/** Posts as this process may: no redirect followed, no private address unless allowed. Interruption ends the connection. */
export const makePost = Effect.map(WebAccess, (access) => {
  const request = makeRequest(access)
  return ({ body, headers, maxBytes, timeoutMillis, url }: Post): Effect.Effect<Posted, PostFailure> =>
    request(url, { method: "POST", headers, body, timeoutMillis, maxBytes }).pipe(
      Effect.mapBoth({
        onFailure: ({ message }) => new PostFailure({ reason: message }),
        onSuccess: ({ body, status, truncated }) => ({ status, text: Buffer.from(body).toString("utf8"), truncated })
      })
    )
})
