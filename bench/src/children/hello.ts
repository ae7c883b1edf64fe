import { createServer } from "node:http"

/** The least a node process that serves HTTP can be. */
createServer((_, response) => {
  const body = JSON.stringify({
    status: "ok",
    protocol: 1,
    release: "0.0.0",
    uptimeMillis: Math.round(process.uptime() * 1000)
  })
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
}).listen(Number(process.argv[2]), "127.0.0.1")
process.on("SIGTERM", () => process.exit(0))
