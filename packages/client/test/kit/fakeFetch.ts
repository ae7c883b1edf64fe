/** A request, as the fake server got it. */
export interface Asked {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string | undefined
}

/** How a body goes on after its last byte: it ends, breaks, or nothing more comes. */
export type Ending = "end" | "cut" | "hang"

/** A body that arrives in exactly these pieces. */
export const bodyOf = (
  pieces: ReadonlyArray<string | Uint8Array>,
  ending: Ending,
  signal: AbortSignal | null | undefined,
  onDrained: () => void = () => {}
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let next = 0
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true })
      },
      pull: (controller) => {
        const piece = pieces[next++]
        if (piece !== undefined) return controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece)
        onDrained()
        if (ending === "end") controller.close()
        if (ending === "cut") controller.error(new TypeError("terminated"))
        return ending === "hang" ? new Promise(() => {}) : undefined
      }
    },
    { highWaterMark: 0 }
  )
}

/** An answer of an event stream. */
export const eventStream = (
  pieces: ReadonlyArray<string | Uint8Array>,
  ending: Ending,
  asked: { readonly signal: AbortSignal | null | undefined },
  onDrained?: () => void
): Response =>
  new Response(bodyOf(pieces, ending, asked.signal, onDrained), {
    headers: { "content-type": "text/event-stream" }
  })

/** An answer in JSON. */
export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } })

/** The body of an error. */
export const errorBody = (tag: string, code: string, more: object = {}) => ({
  _tag: tag,
  code,
  message: `${code} happened`,
  retryable: tag === "UnavailableError",
  requestId: "r-1",
  ...more
})

/** What fetch rejects with when nobody listens. */
export const refused = (): TypeError =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }) })

type Answer = (
  asked: Asked & { readonly signal: AbortSignal | null | undefined },
  nth: number
) => Response | Promise<Response>

/** A server behind a fetch: `asked` holds every request it got, from the first. */
export const fakeFetch = (answer: Answer) => {
  const asked: Array<Asked> = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const body = init?.body
    const request = {
      method: init?.method ?? "GET",
      url: new URL(String(input)),
      headers: new Headers(init?.headers),
      body: body instanceof Uint8Array ? new TextDecoder().decode(body) : typeof body === "string" ? body : undefined
    }
    asked.push(request)
    return answer({ ...request, signal: init?.signal }, asked.length)
  }
  return { asked, fetch }
}
