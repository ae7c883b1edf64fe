import { createServer } from "node:http"
import { runConformance } from "@harness/protocol/conformance"
import { expect, it } from "vitest"

const serving = async (status: number, body: string, run: (baseUrl: string) => Promise<void>) => {
  const server = createServer((request, response) => {
    request.resume()
    request.on("end", () => response.writeHead(status, { "content-type": "application/json" }).end(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("no address")
  try {
    await run(`http://127.0.0.1:${address.port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

it("each check has a name of its own", async () => {
  await serving(404, "", async (baseUrl) => {
    const { results } = await runConformance({ baseUrl, token: "t" })
    expect(new Set(results.map((result) => `${result.section}: ${result.name}`)).size).toBe(results.length)
    expect(results.length).toBeGreaterThan(130)
  })
})

it("a server that answers anything to everything keeps none of them, and the report says why", async () => {
  await serving(200, "{}", async (baseUrl) => {
    const report = await runConformance({ baseUrl, token: "t" })
    expect(report.results.filter((result) => result.ok).map((result) => result.name)).toEqual([])
    expect(report.failed).toBe(report.results.length)
    for (const result of report.results) expect(result.reason).toBeTruthy()
  })
})

it("a server that is not there fails every check, and throws nothing", async () => {
  const report = await runConformance({ baseUrl: "http://127.0.0.1:1", token: "t" })
  expect(report.passed).toBe(0)
})
