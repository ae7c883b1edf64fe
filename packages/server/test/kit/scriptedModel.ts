import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { dialectOf, makeEncoder } from "./scriptedDialects.ts"
import type { Framing, Step } from "./scriptedSteps.ts"

export * from "./scriptedSteps.ts"
export { assertValidRequest, requestProblems } from "./validRequest.ts"

/** A request the scripted model got. */
export interface ScriptedRequest {
  readonly index: number
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly body: unknown
  /** `performance.now()` when the body was whole. */
  readonly at: number
  /** Settles when the answer ended, with the moment of the cut when the other side went away first. */
  readonly closed: Promise<{ readonly aborted: boolean; readonly at: number }>
}

export type Script = (request: ScriptedRequest, index: number) => ReadonlyArray<Step> | Promise<ReadonlyArray<Step>>

/** A model on loopback that answers exactly what a test tells it to, byte for byte. */
export interface ScriptedModel {
  /** What `OPENAI_BASE_URL` is set to: `http://127.0.0.1:PORT/v1`. */
  readonly url: string
  /** Base URLs of the other dialects. */
  readonly anthropicUrl: string
  readonly googleUrl: string
  /** Every request so far, in order of arrival. */
  readonly requests: ReadonlyArray<ScriptedRequest>
  /** Answers from now on; `index` counts from 0 since the start. */
  readonly script: (script: Script) => void
  /** The request with this index, waiting for it when it has not come yet. */
  readonly request: (index: number) => Promise<ScriptedRequest>
  readonly close: () => Promise<void>
}

const bodyOf = async (message: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of message) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString("utf8")
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const send = (response: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed || bytes.length === 0) return resolve()
    response.write(bytes, () => resolve())
  })

/** Writes as the framing says: all at once, or one byte a packet. */
const deliver = async (response: ServerResponse, bytes: Uint8Array, framing: Framing): Promise<void> => {
  if (framing.perByte !== true) return send(response, bytes)
  for (const byte of bytes) {
    if (response.destroyed) return
    await send(response, Uint8Array.of(byte))
    await turn()
  }
}

const play = async (request: ScriptedRequest, response: ServerResponse, steps: ReadonlyArray<Step>): Promise<void> => {
  const encode = makeEncoder(dialectOf(request.path))
  let framing: Framing = {}
  const kept: Array<Uint8Array> = []
  const held = () => Buffer.concat(kept)
  const head = () => {
    if (!response.headersSent) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
      response.flushHeaders()
    }
  }
  const out = async (bytes: Uint8Array) => {
    head()
    if (framing.oneWrite === true) kept.push(bytes)
    else await deliver(response, bytes, framing)
  }
  for (const step of steps) {
    if (response.destroyed) return
    switch (step.type) {
      case "framing":
        framing = step.framing
        break
      case "head":
        head()
        break
      case "pause":
        step.gate.reached()
        await Promise.race([step.gate.opened, request.closed])
        break
      case "status":
        response.writeHead(step.status, { "content-type": "application/json", ...step.headers })
        response.end(step.body)
        return
      case "reset":
        await send(response, held())
        response.socket?.resetAndDestroy()
        return
      case "cut":
        head()
        await send(response, held())
        response.end()
        return
      case "stall":
        if (step.headers) head()
        await send(response, held())
        await request.closed
        return
      case "raw":
        await out(Buffer.from(step.bytes))
        break
      default:
        for (const bytes of encode(step, framing)) await out(bytes)
    }
  }
  head()
  const end = encode({ type: "done" }, framing)
  const isWhole = steps.some((step) => step.type === "finish")
  for (const bytes of isWhole ? end : []) await out(bytes)
  const whole = held()
  const bytes =
    framing.noFinalBlank === true ? Buffer.from(whole.toString("latin1").replace(/[\r\n]+$/, ""), "latin1") : whole
  await deliver(response, bytes, framing)
  response.end()
}

/** Starts a scripted model on a free loopback port. Until it is given a script it answers "ok". */
export const startScriptedModel = async (
  first: Script = () => [
    { type: "text", text: "ok" },
    { type: "finish", reason: "stop" }
  ]
): Promise<ScriptedModel> => {
  let script = first
  const requests: Array<ScriptedRequest> = []
  const waiting: Array<{ readonly index: number; readonly resolve: (request: ScriptedRequest) => void }> = []

  const answer = async (message: IncomingMessage, response: ServerResponse) => {
    const closed = new Promise<{ aborted: boolean; at: number }>((resolve) => {
      response.on("close", () => resolve({ aborted: !response.writableFinished, at: performance.now() }))
    })
    response.on("error", () => {})
    const text = await bodyOf(message)
    const request: ScriptedRequest = {
      index: requests.length,
      method: message.method ?? "",
      path: message.url ?? "",
      headers: message.headers,
      text,
      body: parse(text),
      at: performance.now(),
      closed
    }
    requests.push(request)
    for (const waiter of waiting) if (waiter.index === request.index) waiter.resolve(request)
    await play(request, response, await script(request, request.index))
  }

  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(599, { "content-type": "text/plain" })
      response.end(`the script failed: ${String(error)}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the scripted model has no port")
  const origin = `http://127.0.0.1:${address.port}`
  return {
    url: `${origin}/v1`,
    anthropicUrl: `${origin}/v1`,
    googleUrl: `${origin}/v1beta`,
    requests,
    script: (next) => {
      script = next
    },
    request: (index) => {
      const known = requests[index]
      return known === undefined ? new Promise((resolve) => waiting.push({ index, resolve })) : Promise.resolve(known)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
