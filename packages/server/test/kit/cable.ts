import { connect, createServer, type Socket } from "node:net"

/** A cable to a server that can go dead: from then on nothing passes, and neither end is told. */
export interface Cable {
  /** The server's URL, by way of the cable. */
  readonly url: string
  readonly goDead: () => void
  readonly close: () => Promise<void>
}

/** Lays a cable to a server on loopback. */
export const layCable = async (to: string): Promise<Cable> => {
  const { port } = new URL(to)
  let isDead = false
  const ends = new Set<Socket>()
  const join = (from: Socket, into: Socket) => {
    ends.add(from)
    from.on("data", (bytes) => {
      if (!isDead) into.write(bytes)
    })
    from.on("close", () => {
      ends.delete(from)
      if (!isDead) into.destroy()
    })
    from.on("error", () => {})
  }
  const server = createServer((near) => {
    const far = connect(Number(port), "127.0.0.1")
    join(near, far)
    join(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the cable has no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
    goDead: () => {
      isDead = true
    },
    close: () =>
      new Promise((resolve) => {
        for (const end of ends) end.destroy()
        server.close(() => resolve())
      })
  }
}
