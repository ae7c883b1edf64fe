import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { saidIn } from "../kit/line.ts"
import { answers, clearUp, onCall } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "greets", ["greeting: Good day."], "tools: []\n")
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

clearUp(places, () => ({ server, model }))

it("L12: what a turn says that a newer one took the place of is not kept when it never went out", async () => {
  model.script(() => answers("Here you are."))
  const calls = await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      const line = await onCall(server, { agent: "greets" })
      line.tell({ type: "turn:start", ...{ turn_id: 1, input: { type: "greeting" } } })
      line.event("application_update", {
        update_type: "generate_reply",
        data: { instructions: "Say it", interrupt: true }
      })
      // Each finds the greeting at another point of its way.
      await new Promise((resolve) => setTimeout(resolve, n * 8))
      line.speak(2, "Hello")
      for (;;) {
        const done = await line.done()
        line.event("reply_spoken", { reply_id: done.reply_id })
        if (done.turn_id === 2) break
      }
      await line.dealtWith()
      await line.end()
      const texts = (await line.history())
        .filter(({ role }) => role === "assistant")
        .map(({ content }) => content.map(({ text }: { text: string }) => text).join(""))
      const heard = [...new Set(line.frames.flatMap(({ reply_id }) => reply_id ?? []))].map((id) =>
        saidIn(line.frames, id).trim()
      )
      return { texts, heard: JSON.stringify(heard) }
    })
  )
  expect(calls.filter(({ texts, heard }) => texts.some((text) => text !== "" && !heard.includes(text)))).toEqual([])
})
