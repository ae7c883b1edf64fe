import { createHarness, HarnessError } from "@harness/client"

/** What the page is told: the server, and a way to it that breaks. */
export interface Told {
  readonly baseUrl: string
  readonly breaking: string
  readonly token: string
}

/** What the page found, in values that can leave it. */
export interface Found {
  readonly text: string
  readonly grown: string
  readonly state: string
  readonly refused: { readonly code: string; readonly status: number | undefined; readonly retryable: boolean }
  readonly gone: { readonly code: string; readonly status: number | undefined; readonly retryable: boolean }
  readonly aborted: boolean
  readonly cursors: ReadonlyArray<number>
  readonly head: number
  readonly nodeGlobals: ReadonlyArray<string>
}

const session = { server: "main", sessionId: "from-a-page" }

const fields = async (promise: Promise<unknown>) => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason
  )
  if (!(error instanceof HarnessError)) throw error
  const { code, status, retryable } = error
  return { code, status, retryable }
}

const visit = async ({ baseUrl, breaking, token }: Told): Promise<Found> => {
  const harness = createHarness({ baseUrl, token, clientId: "page" })
  let grown = ""
  const turn = await harness.prompt({
    ...session,
    content: "write 120 words every 2 ms",
    onText: ({ offset, text }) => {
      grown = grown.slice(0, offset) + text
    }
  })
  const stranger = createHarness({ baseUrl, token: "wrong" })
  const nobody = createHarness({ baseUrl: "http://127.0.0.1:9", token, retries: 0 })
  const controller = new AbortController()
  const waiting = harness.prompt({ ...session, content: "wait 60000", cancelOnAbort: true, signal: controller.signal })
  const aborted = waiting.then(
    () => false,
    (reason: unknown) => reason === controller.signal.reason
  )
  setTimeout(() => controller.abort(), 200)
  const wasAborted = await aborted
  const { cursor: head } = await harness.sessions.get(session)
  const cursors: Array<number> = []
  const cut = createHarness({ baseUrl: breaking, token, backoff: { first: 5, longest: 50 } })
  for await (const event of cut.events.session({ ...session, after: 0 })) {
    if ("at" in event) cursors.push(event.cursor)
    if ("cursor" in event && event.cursor >= head) break
  }
  return {
    text: turn.finalText ?? "",
    grown,
    state: turn.state,
    refused: await fields(stranger.sessions.get(session)),
    gone: await fields(nobody.health()),
    aborted: wasAborted,
    cursors,
    head,
    nodeGlobals: ["process", "Buffer", "require"].filter((name) => name in globalThis)
  }
}

Object.assign(globalThis, { visit })
