import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** A request, whole. */
export interface Got {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** A server on a socket that answers as told, for what only real bytes show. Lives as long as the scope. */
export const httpServer = (answer: (got: Got, response: ServerResponse, nth: number) => void) =>
  Effect.gen(function* () {
    const got: Array<Got> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const { method = "", url = "", headers } = request
        const whole = { method, url, headers, body: Buffer.concat(chunks).toString() }
        got.push(whole)
        answer(whole, response, got.length)
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    return { got, baseUrl: `http://127.0.0.1:${port}` }
  })
