import { decodeProtocol } from "@harness/protocol"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import {
  bargeIn,
  drop,
  hangUp,
  listen,
  press,
  reply,
  Script,
  say,
  silence,
  tools,
  transfer,
  update,
  words
} from "../src/script.ts"
import { callSettings } from "../src/settings.ts"

const read = (json: unknown) =>
  Effect.runPromise(Effect.either(decodeProtocol(Script)(JSON.parse(JSON.stringify(json)))))

describe("a script as JSON", () => {
  it("is what the functions make", async () => {
    const steps = [
      say("hello", { interim: ["hel"], language: "en-GB", confidence: 0.9 }),
      say("quick", { interim: false, now: true }),
      bargeIn({ afterWords: 3, text: "stop" }),
      bargeIn({ afterWords: 0 }),
      reply(2),
      words(3),
      listen(),
      silence(12),
      press("12#"),
      drop({ resumeAfterMs: 500, halfOpen: true }),
      tools({ get_hours: { result: { weekdays: "8am to 6pm" }, afterMs: 200 }, broken: { error: "no line" } }),
      transfer({ outcome: "failed", reason: "busy", afterMs: 100 }),
      update("inject_context", { messages: [] }),
      hangUp("application")
    ]
    const script = await read({ call: { from: "+1", metadata: { agent: "desk" } }, steps })
    expect(script).toMatchObject({ _tag: "Right", right: { steps } })
    expect(script._tag === "Right" && script.right.call).toEqual(
      callSettings({ from: "+1", metadata: { agent: "desk" } })
    )
  })

  it.each([
    [{ steps: [{ do: "sing" }] }, "steps.0.do"],
    [{ steps: [{ do: "say" }] }, "steps.0.text"],
    [{ steps: [{ do: "press", digits: "call me" }] }, "steps.0.digits"],
    [{ steps: [{ do: "reply", conut: 2 }] }, "steps.0.conut"],
    [{ call: { rate: 0 }, steps: [] }, "call.rate"],
    [{ call: { agent: "desk" }, steps: [] }, "call.agent"],
    [{}, "steps"]
  ])("%j is refused, and it is said where", async (json, path) => {
    const script = await read(json)
    expect(script._tag === "Left" && script.left.issues.map((issue) => issue.path)).toContain(path)
  })
})
