import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { type OnCall, onCall } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import {
  assertValidRequest,
  fails,
  makeGate,
  type ScriptedModel,
  type ScriptedRequest,
  type Step,
  says,
  startScriptedModel
} from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"
import { asksForSummary } from "../kit/summaries.ts"
import { readUntil, wire } from "../kit/wire.ts"

let model: ScriptedModel
let server: Harness
const places = folders()
/** How the history of a call is summarised, by a word that its caller said; and how `word N` is answered. */
const acts = new Map<string, ReadonlyArray<Step>>()

const textsOf = (request: ScriptedRequest) => messagesOf(request).map(textOf)
const LONG = "word ".repeat(700)

beforeAll(async () => {
  model = await startScriptedModel()
  model.script((request) => {
    const texts = textsOf(request)
    if (!asksForSummary(request))
      return acts.get(texts.at(-1)?.split(":")[0] ?? "") ?? says(texts.at(-1)?.includes("long") ? LONG : "All right.")
    return [...acts].find(([word]) => texts.join().includes(`${word} 1`))?.[1] ?? says("So it went.")
  })
  writeAgent(places.root, "small", [], "tools: []\nmodel: openai/tiny\n")
  const models = { "openai/tiny": { contextWindow: 4_096 } }
  writeFileSync(join(places.data, "harness.json"), JSON.stringify({ models }))
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
})

afterAll(async () => {
  for (const { body } of model.requests) assertValidRequest(body)
  await server.stop()
  await model.close()
  places.remove()
})

const heard = async (line: OnCall) => {
  const reply = await line.reply()
  line.event("reply_spoken", { reply_id: reply.replyId })
  return reply.text.trim()
}

/** Two long turns, the caller's words with their number in front: the next would find its window nearly full. */
const fill = async (line: OnCall, word: string) => {
  for (const turn of [1, 2]) {
    line.speak(turn, `${word} ${turn}: tell me something long`)
    expect(await heard(line)).toBe(LONG.trim())
  }
}

/** What the model was sent to answer these words with. */
const sentFor = (words: string): ReadonlyArray<string> => {
  const found = model.requests.filter((request) => !asksForSummary(request)).map(textsOf)
  return found.find((texts) => texts.at(-1)?.includes(words)) ?? []
}

const summaries = (word: string) =>
  model.requests.filter((request) => asksForSummary(request) && textsOf(request).join().includes(word))

const never = (): never => {
  throw new Error("no summary was asked for")
}

/** The states of the call's one compaction, to its last. */
const compacted = async ({ session }: OnCall): Promise<ReadonlyArray<string>> => {
  const seen = await readUntil(wire(server).events(`${session}/events?afterCursor=0`), ({ data, type }) => {
    return type === "session.compaction" && !["queued", "running"].includes(data.compaction.state)
  })
  return seen.flatMap(({ data, type }) => (type === "session.compaction" ? [data.compaction.state] : []))
}

it("a call's history that fills its window is summarised between turns, and who speaks meanwhile does not wait", async () => {
  const hold = makeGate()
  acts.set("apples", [{ type: "pause", gate: hold }, ...says("They spoke of apples.")])
  const line = await onCall(server, { agent: "small" })
  await fill(line, "apples")
  await hold.isReached
  for (const turn of [3, 4]) {
    line.speak(turn, `apples ${turn}: are you there`)
    expect(await heard(line)).toBe("All right.")
  }
  expect(sentFor("apples 4")[0]).toContain("apples 1")
  hold.open()

  expect(await compacted(line)).toEqual(["queued", "running", "completed"])
  line.speak(5, "apples 5: and now")
  expect(await heard(line)).toBe("All right.")
  const [first, ...rest] = sentFor("apples 5")
  expect(first).toContain("They spoke of apples.")
  // What was said last stands word for word.
  expect(rest.slice(0, 2)).toEqual(["apples 2: tell me something long", LONG.trim()])
  expect(summaries("apples")).toHaveLength(1)
  await line.end()
})

it("a summary that is made while the caller's turn runs takes its place when that has ended", async () => {
  const [hold, answer] = [makeGate(), makeGate()]
  acts.set("pears", [{ type: "pause", gate: hold }, ...says("They spoke of pears.")])
  const line = await onCall(server, { agent: "small" })
  await fill(line, "pears")
  await hold.isReached
  acts.set("pears 3", [{ type: "text", text: "Well, " }, { type: "pause", gate: answer }, ...says("yes.")])
  line.speak(3, "pears 3: are you there")
  await line.chunk()
  hold.open()
  await (summaries("pears")[0] ?? never()).closed
  await line.dealtWith()
  expect((await line.history())[0]).toMatchObject({ role: "user" })
  answer.open()
  expect(await heard(line)).toBe("Well, yes.")
  expect(await compacted(line)).toEqual(["queued", "running", "completed"])
  expect((await line.history())[0]).toMatchObject({ role: "system" })
  await line.end()
})

it("a summary that fails is not tried again at once, and the call goes on", async () => {
  acts.set("plums", fails(400, { message: "no", code: "nope" }))
  const line = await onCall(server, { agent: "small" })
  await fill(line, "plums")
  expect(await compacted(line)).toEqual(["queued", "running", "failed"])
  for (const turn of [3, 4]) {
    line.speak(turn, `plums ${turn}: are you there`)
    expect(await heard(line)).toBe("All right.")
  }
  await line.dealtWith()
  expect(summaries("plums")).toHaveLength(1)
  await line.end()
})

it("a summary somebody asked for holds no caller up either, and the call's end ends it", async () => {
  acts.set("figs", [
    { type: "text", text: "It be" },
    { type: "stall", headers: true }
  ])
  const line = await onCall(server, { agent: "small" })
  line.speak(1, "figs 1: tell me something long")
  await heard(line)
  const asked = await wire(server).put(`${line.session}/compactions/c1`)
  expect(asked.status).toBe(202)
  line.speak(2, "figs 2: are you there")
  expect(await heard(line)).toBe("All right.")
  await line.end()
  expect(await compacted(line)).toEqual(["queued", "running", "failed"])
  expect((await (summaries("figs")[0] ?? never()).closed).aborted).toBe(true)
  expect((await line.history())[0]).toMatchObject({ role: "user" })
})
