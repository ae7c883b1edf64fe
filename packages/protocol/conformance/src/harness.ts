import {
  SessionResponse,
  SubmitPromptReceipt,
  type SubmitPromptRequestValue,
  TurnResponse,
  type TurnSnapshotValue
} from "@harness/protocol"
import { answers, ensure } from "./check.ts"
import { EventReader } from "./sse.ts"

/** Where the server under test is. */
export interface Target {
  readonly baseUrl: string
  readonly token: string
  readonly server: string
}

/** An answer, read whole. */
export interface Answer {
  /** Method and path, for messages. */
  readonly name: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: () => unknown
}

export interface Sent {
  readonly json?: unknown
  /** Sent as it is, with no content type of ours. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Null sends none. */
  readonly token?: string | null
}

const model = "demo/demo"

/** A server under test, as one check sees it: every wait ends with the check's own time limit. */
export class Harness {
  readonly target: Target
  private readonly signal: AbortSignal
  private readonly readers: Array<EventReader> = []

  constructor(target: Target, signal: AbortSignal) {
    this.target = target
    this.signal = signal
  }

  /** A name nobody has used. */
  fresh(prefix: string): string {
    return `${prefix}-${crypto.randomUUID().slice(0, 13)}`
  }

  /** `S` */
  get s(): string {
    return `/v1/servers/${this.target.server}`
  }

  /** `N` */
  n(sessionId: string): string {
    return `${this.s}/sessions/${sessionId}`
  }

  /** `T` */
  t(sessionId: string, turnId: string): string {
    return `${this.n(sessionId)}/turns/${turnId}`
  }

  private fetch(method: string, path: string, sent: Sent): Promise<Response> {
    const { token = this.target.token, json, text } = sent
    return fetch(this.target.baseUrl + path, {
      method,
      signal: this.signal,
      redirect: "manual",
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...sent.headers
      },
      ...(json === undefined && text === undefined ? {} : { body: text ?? JSON.stringify(json) })
    })
  }

  /** Sends one request and reads its answer. */
  async send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const response = await this.fetch(method, path, sent)
    const text = await response.text()
    const name = `${method} ${path}`
    return {
      name,
      status: response.status,
      headers: response.headers,
      text,
      json: () => {
        try {
          return JSON.parse(text)
        } catch {
          throw new Error(`${name} answered ${response.status} with what is no JSON: ${text.slice(0, 200)}`)
        }
      }
    }
  }

  get(path: string, sent: Sent = {}): Promise<Answer> {
    return this.send("GET", path, sent)
  }

  put(path: string, json?: unknown): Promise<Answer> {
    return this.send("PUT", path, json === undefined ? {} : { json })
  }

  post(path: string, json?: unknown): Promise<Answer> {
    return this.send("POST", path, json === undefined ? {} : { json })
  }

  /** Opens an event stream; it is closed when the check ends. */
  async watch(path: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
    const response = await this.fetch("GET", path, { headers })
    ensure(
      response.status === 200,
      `GET ${path} answered ${response.status}, no stream: ${response.status === 200 ? "" : await response.text()}`
    )
    ensure(response.body !== null, `GET ${path} has no body`)
    const type = response.headers.get("content-type") ?? ""
    ensure(type.startsWith("text/event-stream"), `GET ${path} is ${type}`)
    const reader = new EventReader(response.body)
    this.readers.push(reader)
    return reader
  }

  /** The headers of an event stream, which is closed at once. */
  async streamHeaders(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Headers> {
    const response = await this.fetch("GET", path, { headers })
    await response.body?.cancel()
    return response.headers
  }

  /** A new session that asks the demo model. */
  async session(body: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const sessionId = this.fresh("s")
    answers(await this.put(this.n(sessionId), { model, ...body }), 201, SessionResponse)
    return sessionId
  }

  /** Submits a prompt and answers its receipt. */
  async submit(
    sessionId: string,
    turnId: string,
    body: Record<string, unknown>
  ): Promise<typeof SubmitPromptReceipt.Type> {
    return answers(await this.put(this.t(sessionId, turnId), body), 202, SubmitPromptReceipt)
  }

  /** Submits a prompt (again) and waits for its turn's end. */
  async finish(
    sessionId: string,
    turnId: string,
    body: Pick<SubmitPromptRequestValue, "content"> & Record<string, unknown>
  ): Promise<TurnSnapshotValue> {
    return answers(await this.put(`${this.t(sessionId, turnId)}?waitMillis=20000`, body), 200, TurnResponse)
  }

  /** A turn that works until it is cancelled, seen running. */
  async busy(sessionId: string): Promise<string> {
    const turnId = this.fresh("busy")
    await this.submit(sessionId, turnId, { content: "wait 60000" })
    const stream = await this.watch(`${this.t(sessionId, turnId)}/events?afterRevision=0`)
    await stream.until((frame) => frame.event === "turn.started", "turn.started")
    await stream.close()
    return turnId
  }

  /** Waits for a turn's end and answers the turn. */
  async ended(sessionId: string, turnId: string): Promise<TurnSnapshotValue> {
    const stream = await this.watch(`${this.t(sessionId, turnId)}/events`)
    await stream.until((frame) => frame.event === "turn.terminal", "turn.terminal")
    return answers(await this.get(this.t(sessionId, turnId)), 200, TurnResponse)
  }

  /** Lets go of every stream. */
  async release(): Promise<void> {
    await Promise.allSettled(this.readers.map((reader) => reader.close()))
  }
}
