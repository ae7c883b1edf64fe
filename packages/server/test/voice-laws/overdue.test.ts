import { beforeAll, expect, it } from "vitest"
import { folders, type Harness, startHarness } from "../kit/harness.ts"
import { isCommand } from "../kit/line.ts"
import { answers, clearUp, type OnCall, onCall, plays, resultsIn } from "../kit/onCall.ts"
import { writeAgent } from "../kit/phoneCall.ts"
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.ts"

let model: ScriptedModel
let server: Harness
const places = folders()
const look = { name: "look", description: "", parameters: { type: "object", properties: {} } }

const start = async () => {
  server = await startHarness({ ...places, openaiBaseUrl: model.url })
}

beforeAll(async () => {
  model = await startScriptedModel()
  writeAgent(places.root, "acme", ["tools: { look: { timeoutMillis: 8000 } }"], "tools: []\n")
  writeAgent(places.root, "patient", ["tools: { look: { timeoutMillis: 240000 } }"], "tools: []\n")
  await start()
})

clearUp(places, () => ({ server, model }))

/** The server is killed and comes back; so does the call. */
const restart = async (line: OnCall, agent = "acme"): Promise<OnCall> => {
  await server.kill()
  await start()
  return onCall(server, { agent, sid: line.sid, start: { tools: [look], resumed: true, last_turn_id: 1 } })
}

it("a result that was lost while the server was away is an error at its deadline, and is not asked for again", async () => {
  plays(model, answers("", ["look", {}]), answers("I could not look."))
  const line = await onCall(server, { agent: "acme", start: { tools: [look] } })
  line.speak(1, "Look")
  await line.toolCall()
  const again = await restart(line)
  expect((await again.reply()).text).toBe("I could not look.")
  expect(again.frames.filter(({ type }) => type === "tool:call")).toEqual([])
  expect(resultsIn(await again.history())).toEqual(["No result came in time."])
  await again.end()
})

it("a result that comes after the restart is taken", async () => {
  plays(model, answers("", ["look", {}]), answers("Found."))
  const line = await onCall(server, { agent: "patient", start: { tools: [look] } })
  line.speak(1, "Look")
  const call = await line.toolCall()
  const again = await restart(line, "patient")
  again.tell({ type: "tool:result", call_id: call.call_id, result: "here" })
  expect((await again.reply()).text).toBe("Found.")
  expect(resultsIn(await again.history())).toEqual(["here"])
  await again.end()
})

it("a hangup whose goodbye was being said when the server died is still done, once", async () => {
  plays(model, answers("Goodbye.", ["hangup", { reason: "done" }]))
  const line = await onCall(server, { agent: "acme" })
  line.speak(1, "Bye")
  const { replyId } = await line.reply()
  const again = await restart(line)
  again.event("reply_spoken", { reply_id: replyId })
  const command = await again.command()
  expect(command).toMatchObject({ name: "hangup", args: { reason: "done" } })
  again.tell({ type: "command:result", command_id: command.command_id, ok: true })
  await again.end("harness_hangup")
  expect(again.frames.filter(isCommand)).toHaveLength(1)
  expect(await again.turns()).toMatchObject([{ state: "completed" }])
  expect(resultsIn(await again.history())).toEqual(["The call is ended."])
})
