import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { wholeLog } from "../kit/follower.ts"
import { folders, startHarness } from "../kit/harness.ts"
import { crashProblems, logProblems } from "../kit/logLaws.ts"
import { until } from "../kit/process.ts"
import { openStream } from "../kit/reader.ts"
import { callsFor, makeGate, type Script, says, startScriptedModel } from "../kit/scriptedModel.ts"
import { ANY_COMMAND, messagesOf, textOf } from "../kit/stage.ts"
import { readUntil, type WireEvent, wire } from "../kit/wire.ts"

const gate = makeGate()

/** Speaks, or runs a tool, as the last prompt says; a second request is answered at once. */
const script: Script = (request) => {
  const messages = messagesOf(request)
  const prompt = textOf(messages.findLast(({ role }) => role === "user") ?? { role: "", content: "" })
  if (prompt === "speak") return [{ type: "text", text: "half of it" }, { type: "pause", gate }, ...says("lost")]
  const fresh = messages.at(-1)?.role === "user" && prompt === "run"
  return fresh ? callsFor(["shell", { command: "echo $$ > pid; sleep 300" }]) : says(", and the rest")
}

it("SIGTERM: streams end, waits are answered, tools are gone, exit 0; the port is free and the turns go on", async () => {
  const place = folders()
  const model = await startScriptedModel(script)
  const first = await startHarness({ ...place, openaiBaseUrl: model.url })
  onTestFinished(() => first.kill())
  const port = new URL(first.url).port
  const { events, put } = wire(first)
  for (const id of ["speaks", "runs"]) await put(`/sessions/${id}`, ANY_COMMAND)
  const waiting = put("/sessions/speaks/turns/t?waitMillis=60000", { content: "speak" })
  await put("/sessions/speaks/turns/next", { content: "after it" })
  await put("/sessions/runs/turns/t", { content: "run" })
  await readUntil(events("/sessions/speaks/events?afterCursor=0"), ({ type }) => type.endsWith("text.delta"))
  const file = join(place.root, "pid")
  await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"))
  const pid = Number(readFileSync(file, "utf8"))

  const paths = ["/sessions/speaks/events", "/sessions/speaks/turns/t/events", "/events", "/sessions/runs/events"]
  const seen: Array<WireEvent> = []
  const streams = await Promise.all(paths.map((path) => openStream(first, path, (event) => seen.push(event))))
  await until(() => seen.length >= paths.length)
  const began = performance.now()
  const times: Array<number> = []
  const closing = streams.map(async ({ closed }) => {
    const { whole } = await closed
    times.push(Math.round(performance.now() - began))
    return whole
  })
  const code = await first.stop()
  const exited = Math.round(performance.now() - began)
  // Each ended with the last chunk of its body: nobody was cut off.
  expect(await Promise.all(closing)).toEqual(paths.map(() => true))
  expect(code).toBe(0)
  console.log(`streams ended after ${times.join(", ")} ms, the process after ${exited} ms`)
  expect(exited).toBeLessThan(10_000)
  expect(await waiting).toMatchObject({ status: 202, body: { turnId: "t", state: "running", timedOut: true } })
  expect(() => process.kill(pid, 0)).toThrow()
  await expect(fetch(`${first.url}/v1/health`)).rejects.toThrow()

  const stopped = Date.now()
  const second = await startHarness({ ...place, openaiBaseUrl: model.url, env: { HARNESS_PORT: port } })
  onTestFinished(() => second.kill())
  expect(new URL(second.url).port).toBe(port)
  const again = wire(second)
  const spoken = await again.put("/sessions/speaks/turns/t?waitMillis=20000", { content: "speak" })
  expect(spoken.body).toMatchObject({ state: "completed", attempt: 2, finalText: "half of it, and the rest" })
  const next = await again.put("/sessions/speaks/turns/next?waitMillis=20000", { content: "after it" })
  expect(next.body).toMatchObject({ state: "completed", attempt: 1 })
  const ran = await again.put("/sessions/runs/turns/t?waitMillis=20000", { content: "run" })
  expect(ran.body).toMatchObject({
    state: "completed",
    attempt: 2,
    parts: [{ state: "interrupted" }, { type: "text" }]
  })
  for (const id of ["speaks", "runs"]) {
    const rows = await wholeLog(again, id)
    expect(logProblems(rows)).toEqual([])
    expect(crashProblems(rows, [stopped])).toEqual([])
  }
  expect(await second.stop()).toBe(0)
  await model.close()
  place.remove()
})
