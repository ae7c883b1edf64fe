import { CONTINUE_NUDGE } from "../../src/providers/Model.ts"
import { COUNTED, once, type Scenario, said, simple } from "./crashScenario.ts"
import { callsFor, fails, says } from "./scriptedModel.ts"
import { ANY_COMMAND } from "./stage.ts"
import type { Tenacious } from "./tenacious.ts"

const OUTPUT = {
  options: {
    output: {
      type: "json",
      schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false }
    }
  }
}

/** Ways of answers: cut off, steered, broken, bounded, summarised. */
export const answers = {
  /** Words said while the model speaks. */
  steer: {
    config: {},
    act: (gate) => (request) =>
      said(request, "to the left") ? says("heard") : [{ type: "pause", gate }, ...says("one")],
    requests: 2,
    runs: 0,
    play: async (user, gate) => {
      await user.prompt("t", "go")
      await gate.isReached
      await user.must(202, (api) => api.post(`${user.home}/turns/t/steer/s`, { content: "to the left" }))
      gate.open()
      return user.ended("t")
    }
  },
  /** An answer that stops in its middle. */
  text: {
    config: {},
    act: () => (request, step) => {
      if (said(request, CONTINUE_NUDGE)) return says(" whole")
      return step === 0
        ? [
            { type: "text", text: "half" },
            { type: "stall", headers: true }
          ]
        : says("half", " whole")
    },
    requests: 2,
    runs: 0,
    play: simple()
  },
  /** A provider that fails once before it speaks. */
  retry: {
    config: {},
    act: () => (_, step) => (step === 0 ? fails(500, { message: "not now" }) : says("done")),
    requests: 2,
    runs: 0,
    play: simple()
  },
  /** A turn of one generation. */
  cap: {
    config: ANY_COMMAND,
    act: () => (request) => once(request, COUNTED),
    requests: 1,
    runs: 1,
    play: simple({ options: { maxSteps: 1 } })
  },
  /** A result handed in with a tool. */
  handin: {
    config: { model: "openai/gpt-4-plain" },
    act: () => () => callsFor(["submit_result", { n: 7 }]),
    requests: 1,
    runs: 0,
    play: simple(OUTPUT)
  },
  /** An answer that breaks its contract, and one that keeps it. */
  misfit: {
    config: {},
    act: () => (request) => (said(request, "not JSON") ? says('{"n": 7}') : says("sorry, no")),
    requests: 2,
    runs: 0,
    play: simple(OUTPUT)
  },
  /** Answers that all break their contract. */
  exhausted: { config: {}, act: () => () => says("sorry, no"), requests: 3, runs: 0, play: simple(OUTPUT) },
  /** A summary that somebody asks for between two turns. */
  between: {
    config: {},
    act: () => () => says("done"),
    requests: 2,
    runs: 0,
    play: async (user) => {
      await user.prompt("t0", "first")
      await user.ended("t0")
      await user.must(202, (api) => api.put(`${user.home}/compactions/c`))
      await summarised(user)
      await user.prompt("t", "second")
      return user.ended("t")
    }
  },
  /** A summary that a turn needs to go on. */
  within: {
    config: {},
    act: () => (request) =>
      said(request, "third") && said(request, "first")
        ? fails(400, { message: "too long", code: "context_length_exceeded" })
        : says("done"),
    requests: 4,
    runs: 0,
    play: async (user) => {
      for (const [turnId, words] of [
        ["t0", "first"],
        ["t1", "second"],
        ["t", "third"]
      ] as const) {
        await user.prompt(turnId, words)
        await user.ended(turnId)
      }
      return user.ended("t")
    }
  }
} satisfies Readonly<Record<string, Scenario>>

const summarised = (user: Tenacious): Promise<void> =>
  user.ask(async (api) => {
    for await (const { data } of api.events(`${user.home}/events?afterCursor=0`)) {
      if (["completed", "failed"].includes(data.compaction?.state)) return
    }
  })
