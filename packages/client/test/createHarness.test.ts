import { describe, expect, it } from "vitest"
import { createHarness, HarnessError } from "../src/Client.ts"
import { errorBody, eventStream, fakeFetch, json, refused } from "./kit/fakeFetch.ts"
import { onSession, onTurn, session, sessionAnswer, snapshot, text, turn } from "./kit/log.ts"

type Answer = Parameters<typeof fakeFetch>[0]

const quick = { first: 0, longest: 0 }
const harnessOf = (answer: Answer, retries = 0) => {
  const fake = fakeFetch(answer)
  return { fake, harness: createHarness({ baseUrl: "http://fake.test", fetch: fake.fetch, retries, backoff: quick }) }
}
const error = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => reason
  )

const done = snapshot(5, { state: "completed", parts: [text("p1", "Hello", true)], finalText: "Hello" })

describe("createHarness", () => {
  it("answers promises of plain values for plain strings", async () => {
    const { harness, fake } = harnessOf(({ method }) => json(method === "PUT" ? 201 : 200, sessionAnswer))
    expect(await harness.sessions.create({ ...session, title: "Notes" })).toEqual(sessionAnswer)
    expect(fake.asked[0]?.body).toBe('{"title":"Notes"}')
    expect(await harness.sessions.get(session)).toEqual(sessionAnswer)
  })

  it("rejects with an Error that says in fields what the server said", async () => {
    const { harness } = harnessOf(() =>
      json(404, errorBody("NotFoundError", "session.not_found", { details: { a: 1 } }))
    )
    const reason = await error(harness.sessions.get(session))
    expect(reason).toBeInstanceOf(HarnessError)
    expect(reason).toMatchObject({
      name: "NotFoundError",
      message: "session.not_found happened",
      code: "session.not_found",
      status: 404,
      retryable: false,
      details: { a: 1 },
      requestId: "r-1"
    })
  })

  it("says the same of a server that is not there, of one that is another, and of input that is wrong", async () => {
    const gone = harnessOf(() => {
      throw refused()
    })
    expect(await error(gone.harness.health())).toMatchObject({
      code: "client.disconnected",
      status: undefined,
      retryable: true,
      details: { reason: "unreachable", mayHaveBeenAccepted: false }
    })
    const other = harnessOf(() => new Response("<html>"))
    expect(await error(other.harness.health())).toMatchObject({ code: "client.protocol_mismatch", retryable: false })
    expect(await error(gone.harness.sessions.get({ server: "main", sessionId: "" }))).toMatchObject({
      code: "request.invalid",
      status: undefined,
      details: { issues: [{ path: "sessionId" }] }
    })
    expect(() => createHarness({ baseUrl: "nonsense" })).toThrow(HarnessError)
  })

  it("rejects with the signal's reason when aborted, and ends the request", async () => {
    let ended = false
    const { harness } = harnessOf(
      (asked) =>
        new Promise((_, reject) =>
          asked.signal?.addEventListener("abort", () => {
            ended = true
            reject(asked.signal?.reason)
          })
        )
    )
    const controller = new AbortController()
    const promise = error(harness.sessions.get(session, { signal: controller.signal }))
    controller.abort(new Error("enough"))
    expect(await promise).toMatchObject({ message: "enough" })
    expect(ended).toBe(true)
    expect(await error(harness.sessions.get(session, { signal: AbortSignal.abort() }))).toMatchObject({
      name: "AbortError"
    })
  })

  it("prompts: makes the session if it must, shows text as it grows, and answers the turn at its end", async () => {
    const { harness, fake } = harnessOf((asked) => {
      if (asked.method === "PUT") {
        return json(202, { turnId: "turn-1", sessionId: "x", disposition: "started", cursor: 2 })
      }
      return eventStream(
        [onTurn.opening(snapshot(2)), onTurn.delta("p1", 0, "Hel"), onTurn.delta("p1", 3, "lo"), onTurn.terminal(done)],
        "end",
        asked
      )
    })
    const shown: Array<string> = []
    const events: Array<string> = []
    const turn = await harness.prompt({
      server: "main",
      turnId: "turn-1",
      content: "Say hello",
      onText: ({ text, offset }) => shown.push(`${offset}:${text}`),
      onEvent: ({ type }, turn) => events.push(`${type} ${turn?.revision}`)
    })
    expect(turn).toEqual(done)
    expect(shown).toEqual(["0:Hel", "3:lo"])
    expect(events).toEqual(["turn.snapshot 2", "turn.text.delta 2", "turn.text.delta 2", "turn.terminal 5"])
    expect(fake.asked[0]?.url.pathname).toMatch(/^\/v1\/servers\/main\/sessions\/session_[0-9A-Z]{26}\/turns\/turn-1$/)
    expect(fake.asked[0]?.body).toBe('{"content":"Say hello","session":{}}')
  })

  it("cancels the turn of an aborted prompt only when asked to", async () => {
    for (const cancelOnAbort of [false, true]) {
      const controller = new AbortController()
      const { harness, fake } = harnessOf((asked) => {
        if (asked.method === "PUT")
          return json(202, { turnId: "turn-1", sessionId: "x", disposition: "started", cursor: 2 })
        if (asked.method === "POST") return json(202, { stopping: true, turnId: "turn-1" })
        return eventStream([onTurn.opening(snapshot(2))], "hang", asked, () => controller.abort())
      })
      const { signal } = controller
      expect(await error(harness.prompt({ ...turn, content: "x", cancelOnAbort, signal }))).toBe(signal.reason)
      expect(fake.asked.some(({ method }) => method === "POST")).toBe(cancelOnAbort)
    }
  })

  it("lets an error of a callback through as it is", async () => {
    const { harness } = harnessOf((asked) => eventStream([onTurn.terminal(done)], "end", asked))
    const bug = new RangeError("a bug of the page")
    const wait = harness.turns.wait({
      ...turn,
      onEvent: () => {
        throw bug
      }
    })
    expect(await error(wait)).toBe(bug)
  })
})

describe("events in a for await loop", () => {
  it("come in order, over several connections, and end", async () => {
    const lost: Array<string> = []
    const { harness } = harnessOf((asked, nth) =>
      nth === 1
        ? eventStream([onSession.title(1), onSession.title(2)], "cut", asked)
        : eventStream([onSession.title(3), onSession.deleted(4)], "end", asked)
    )
    const seen: Array<string> = []
    for await (const event of harness.events.session({ ...session, after: 0, onLost: ({ code }) => lost.push(code) })) {
      seen.push(event.type)
    }
    expect(seen).toEqual(["session.title", "session.title", "session.title", "session.deleted"])
    expect(lost).toEqual(["client.disconnected"])
  })

  it("end their connection when the loop is left", async () => {
    let aborted = false
    const { harness } = harnessOf((asked) => {
      asked.signal?.addEventListener("abort", () => {
        aborted = true
      })
      return eventStream([onSession.title(1), onSession.title(2)], "hang", asked)
    })
    for await (const event of harness.events.session({ ...session, after: 0 })) {
      expect(event.type).toBe("session.title")
      break
    }
    expect(aborted).toBe(true)
  })

  it("throw what the server says, and the signal's reason when aborted", async () => {
    const collect = async (events: AsyncIterable<unknown>) => {
      for await (const _ of events);
    }
    const refusing = harnessOf(() => json(409, errorBody("ConflictError", "cursor.ahead")))
    expect(await error(collect(refusing.harness.events.server({ server: "main", after: 9 })))).toMatchObject({
      code: "cursor.ahead",
      status: 409
    })
    const controller = new AbortController()
    const hanging = harnessOf((asked) =>
      eventStream([onTurn.opening(snapshot(1))], "hang", asked, () => controller.abort(new Error("enough")))
    )
    expect(await error(collect(hanging.harness.events.turn({ ...turn, signal: controller.signal })))).toMatchObject({
      message: "enough"
    })
  })

  it("are over once they are over, and keep order when asked for several at once", async () => {
    const { harness } = harnessOf((asked) =>
      eventStream([onSession.title(1), onSession.title(2), onSession.deleted(3)], "end", asked)
    )
    const iterator = harness.events.session({ ...session, after: 0 })[Symbol.asyncIterator]()
    const results = await Promise.all(Array.from({ length: 5 }, () => iterator.next()))
    expect(results.map(({ done, value }) => (done === true ? "done" : value.type))).toEqual([
      "session.title",
      "session.title",
      "session.deleted",
      "done",
      "done"
    ])
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it("let go of whoever waits for the next one when they are left", async () => {
    const { harness } = harnessOf((asked) => eventStream([], "hang", asked))
    const iterator = harness.events.session({ ...session, after: 0 })[Symbol.asyncIterator]()
    const waiting = iterator.next()
    await iterator.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  it("are read no faster than the loop takes them", async () => {
    let read = 0
    const pieces = Array.from({ length: 200 }, (_, n) => onSession.title(n + 1))
    const { harness } = harnessOf((asked) => {
      const body = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            controller.enqueue(new TextEncoder().encode(pieces[read++] ?? onSession.deleted(201)))
          }
        },
        { highWaterMark: 0 }
      )
      expect(asked.url.search).toBe("?afterCursor=0")
      return new Response(body, { headers: { "content-type": "text/event-stream" } })
    })
    let taken = 0
    for await (const _ of harness.events.session({ ...session, after: 0 })) {
      await new Promise((resolve) => setImmediate(resolve))
      expect(read).toBeLessThan(++taken + 5)
      if (taken === 50) break
    }
  })
})
