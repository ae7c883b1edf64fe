import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { HarnessClient } from "../src/Client.ts"
import { httpServer } from "./kit/httpServer.ts"
import { onSession, session, sessionAnswer } from "./kit/log.ts"

const backoff = { first: "1 millis", longest: "5 millis" } as const
const sse = { "content-type": "text/event-stream" }

describe("over real sockets", () => {
  it.scopedLive("a stream on which no more bytes come is left for a new connection", () =>
    Effect.gen(function* () {
      const closed: Array<string> = []
      const { baseUrl, got } = yield* httpServer((request, response, nth) => {
        response.writeHead(200, sse)
        response.on("close", () => closed.push(request.url))
        response.write(onSession.title(nth))
        if (nth === 3) response.end(onSession.deleted(4))
      })
      const client = yield* HarnessClient.make({ baseUrl, silence: "150 millis", backoff })
      const events = yield* Stream.runCollect(client.followSession({ ...session, after: 0 }))
      expect(Chunk.size(events)).toBe(4)
      expect(got.map(({ url }) => new URL(url, baseUrl).search)).toEqual([
        "?afterCursor=0",
        "?afterCursor=1",
        "?afterCursor=2"
      ])
      expect(closed.length).toBeGreaterThanOrEqual(2)
    })
  )

  it.scopedLive("a connection that is reset in the middle of a character, a line or a frame loses nothing", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from(onSession.title(1).replace("t1", "日本語🌍é") + onSession.title(2))
      const { baseUrl } = yield* httpServer((request, response, nth) => {
        response.writeHead(200, sse)
        if (!request.url.endsWith("=0")) return response.end(onSession.title(2) + onSession.deleted(3))
        response.write(bytes.subarray(0, nth * 3), () => response.destroy())
      })
      const client = yield* HarnessClient.make({ baseUrl, backoff })
      const events = yield* Stream.runCollect(client.followSession({ ...session, after: 0 }))
      expect(Chunk.toReadonlyArray(events).map((event) => ("title" in event ? event.title : event.type))).toEqual([
        "日本語🌍é",
        "t2",
        "session.deleted"
      ])
    })
  )

  it.scopedLive("an answer that breaks off is asked for again", () =>
    Effect.gen(function* () {
      const body = JSON.stringify(sessionAnswer)
      const { baseUrl, got } = yield* httpServer((_, response, nth) => {
        response.writeHead(200, {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body))
        })
        if (nth === 1) return response.write(body.slice(0, 20), () => response.destroy())
        response.end(body)
      })
      const client = yield* HarnessClient.make({ baseUrl, backoff })
      expect(yield* client.sessions.get(session)).toEqual(sessionAnswer)
      expect(got.length).toBe(2)
    })
  )

  it.scopedLive("a server that is not there is told from one that broke off", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* httpServer((_, response) => response.destroy())
      const broken = yield* HarnessClient.make({ baseUrl, retries: 0 })
      expect(yield* Effect.flip(broken.sessions.get(session))).toMatchObject({
        _tag: "Disconnected",
        reason: "unreachable",
        mayHaveBeenAccepted: true
      })
      const left = yield* Effect.scoped(httpServer((_, response) => response.end()))
      const nobody = yield* HarnessClient.make({ baseUrl: left.baseUrl, retries: 0 })
      const { message, ...error } = yield* Effect.flip(nobody.sessions.get(session))
      expect(message).toBe("the server could not be reached (ECONNREFUSED)")
      expect("mayHaveBeenAccepted" in error && error.mayHaveBeenAccepted).toBe(false)
    })
  )
})
