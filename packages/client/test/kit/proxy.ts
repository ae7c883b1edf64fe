import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"

/** How one connection through the proxy goes. */
export interface Passage {
  /** After this many bytes of answers it breaks. None: it holds. */
  readonly cutAfter?: number
  /** Answers go on in pieces of this size. */
  readonly piece?: number
}

/** A way to a server that breaks, or crumbles what it carries. `passages`: one for each connection, in order. */
export const proxy = (target: string, passage: (nth: number) => Passage) =>
  Effect.gen(function* () {
    const { hostname, port } = new URL(target)
    const open = new Set<Socket>()
    let connections = 0
    let broken = 0
    const server = createServer((client) => {
      const { cutAfter = Number.POSITIVE_INFINITY, piece = Number.POSITIVE_INFINITY } = passage(++connections)
      const upstream = connect(Number(port), hostname)
      for (const socket of [client, upstream]) {
        socket.setNoDelay(true)
        open.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => {
          open.delete(socket)
          client.destroy()
          upstream.destroy()
        })
      }
      client.pipe(upstream)
      let left = cutAfter
      upstream.on("data", (bytes: Buffer) => {
        const passed = bytes.subarray(0, Math.min(left, bytes.length))
        for (let at = 0; at < passed.length; at += piece) client.write(passed.subarray(at, at + piece))
        left -= passed.length
        if (left > 0) return
        broken++
        // What was written arrives, and then nothing: the connection is reset, not ended.
        client.end(() => client.resetAndDestroy())
        upstream.destroy()
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of open) socket.destroy()
        })
    )
    const address = server.address() as AddressInfo
    return { baseUrl: `http://127.0.0.1:${address.port}`, broken: () => broken }
  })
