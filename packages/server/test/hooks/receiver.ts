import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { Deferred, Effect, Exit, Queue, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"

/** A request as somebody outside gets it. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies the way an outsider does, without our types
  readonly json: any
}

/** Does what it likes with a request. */
export type Reply = (response: ServerResponse, request: Received) => void

/** Answers with JSON. */
export const json =
  (body: unknown, status = 200): Reply =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

/** Answers with a status alone. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) =>
    void response.writeHead(code, headers).end()

/** Answers nothing, ever. */
export const silence: Reply = () => {}

/** Somebody outside who is called: keeps what came, and answers each path as it is told, else 204. */
export const receiver = Effect.gen(function* () {
  const queue = yield* Queue.bounded<Received>(1024)
  const left = yield* Deferred.make<void>()
  const replies = new Map<string, Reply>()
  const received: Array<Received> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8")
      const one: Received = { path: request.url ?? "", headers: request.headers, text, json: JSON.parse(text) }
      response.on("close", () => {
        if (!response.writableFinished) Deferred.unsafeDone(left, Effect.void)
      })
      received.push(one)
      const reply = replies.get(one.path) ?? status(204)
      reply(response, one)
      Queue.unsafeOffer(queue, one)
    })
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.async<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    /** The next request, whenever it comes. */
    next: Queue.take(queue),
    /** From now on a path answers like this. */
    on: (path: string, reply: Reply) => void replies.set(path, reply),
    /** Done when a caller goes away before it is answered. */
    left: Deferred.await(left)
  }
})

/** Whether a request is signed with this secret, as Standard Webhooks says it. */
export const isSigned = ({ headers, text }: Received, secret: string): boolean => {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`
  return headers["webhook-signature"] === `v1,${createHmac("sha256", key).update(content).digest("base64")}`
}

/** A receiver for one test file, as promises. */
export const receiverForFile = () => {
  const scope = Effect.runSync(Scope.make())
  let there: Effect.Effect.Success<typeof receiver> | undefined
  beforeAll(async () => {
    there = await Effect.runPromise(Scope.extend(receiver, scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const at = () => {
    if (there === undefined) throw new Error("the receiver is not there yet")
    return there
  }
  return {
    url: (path: string) => at().url + path,
    on: (path: string, reply: Reply) => at().on(path, reply),
    next: () => Effect.runPromise(at().next),
    /** What came on a path so far. */
    came: (path: string) => at().received.filter((one) => one.path === path)
  }
}
