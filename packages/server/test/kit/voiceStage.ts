import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { answering, callTo } from "./caller.ts"
import { folders, type Harness, type HarnessOptions, startHarness } from "./harness.ts"
import { assertValidRequest, type ScriptedModel, startScriptedModel } from "./scriptedModel.ts"
import { wire } from "./wire.ts"

const agentFile = (voice: string, prompt: string) => `---
description: Answers the telephone.
tools: []
voice:
  filler: []
${voice}
---
${prompt}
`

/** A server and a scripted model for calls, with agents that differ in lines of their `voice`. Every request must be valid. */
export const voiceStage = (agents: Readonly<Record<string, string>>, env: HarnessOptions["env"] = {}) => {
  const place = folders()
  let model: ScriptedModel
  let server: Harness
  let answers: ReturnType<typeof answering>
  let other: Awaited<ReturnType<typeof callTo>>
  let others = 1
  const prompt = (name: string, text: string) =>
    writeFileSync(join(place.root, `.harness/agents/${name}.md`), agentFile(agents[name] ?? "", text))
  const start = () => startHarness({ ...place, openaiBaseUrl: model.url, env })
  const call = (sid: string, agent = Object.keys(agents)[0] ?? "", more: object = {}) =>
    callTo(server, sid, agent, more)

  beforeAll(async () => {
    mkdirSync(join(place.root, ".harness/agents"), { recursive: true })
    for (const name of Object.keys(agents)) prompt(name, "You answer calls.")
    model = await startScriptedModel()
    answers = answering(model)
    server = await start()
    // The first call of a process is slow.
    other = await call("other")
    other.hears(1, "first")
    other.commits(1, "first")
    await other.reply()
  }, 60_000)

  afterAll(async () => {
    for (const { body } of model.requests) assertValidRequest(body)
    await server.stop()
    await model.close()
    place.remove()
  })

  return {
    model: () => model,
    answers: () => answers,
    api: () => wire(server),
    call,
    /** What an agent is told, from here on. */
    prompt,
    /** Kills the server, and starts it again. */
    crash: async () => {
      await server.kill()
      server = await start()
      other = await call("other", undefined, { resumed: true })
    },
    /** By now whatever a frame before this led to has led to it: another call was answered early from end to end. */
    meanwhile: async () => {
      const words = `meanwhile ${++others}`
      other.hears(others, words)
      await answers.ask(words)
    }
  }
}
