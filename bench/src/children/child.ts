import type { RequestListener } from "node:http"
import { createServer } from "node:http"

/** Serves on a free loopback port and says where. */
export const serve = (listener: RequestListener): void => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1", 4096, () => {
    const address = server.address()
    if (address !== null && typeof address !== "string") say(`http://127.0.0.1:${address.port}`)
  })
}

/** Says one thing to the benchmark. */
export const say = (message: string): void => {
  process.send?.(message)
}

/** Answers what the benchmark asks. */
export const answer = <In, Out>(run: (message: In) => Promise<Out>): void => {
  process.on("message", (text) => {
    const message: In = JSON.parse(String(text))
    run(message).then(
      (out) => say(JSON.stringify(out)),
      (error) => {
        console.error(error)
        process.exit(1)
      }
    )
  })
}

process.on("SIGTERM", () => process.exit(0))
process.on("disconnect", () => process.exit(0))
