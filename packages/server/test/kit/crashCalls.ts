import type { TurnSnapshot } from "@harness/protocol"
import { callsOf, count, counted } from "./asks.ts"
import { answered, COUNTED, once, type Scenario, simple } from "./crashScenario.ts"
import { until as untilFact } from "./process.ts"
import { callsFor, type ScriptedRequest } from "./scriptedModel.ts"
import { ANY_COMMAND, messagesOf, textOf } from "./stage.ts"
import type { Tenacious } from "./tenacious.ts"

const QUESTION = {
  question: "Which way?",
  header: "Way",
  options: [
    { label: "left", description: "to the left" },
    { label: "right", description: "to the right" }
  ]
}
const LOOK_UP = {
  name: "look_up",
  description: "Looks something up.",
  inputSchema: { type: "object", properties: {} }
}
const settled = (turn: TurnSnapshot, name: string): boolean =>
  callsOf(turn).some((call) => call.name === name && call.settledAt !== undefined)
const callIdOf = (turn: TurnSnapshot, name: string): string =>
  callsOf(turn).find((call) => call.name === name)?.callId ?? "none"

/** A command that asks, a question and a client's call, in one step. */
const threeWaits: Pick<Scenario, "config" | "act"> = {
  config: { permissions: [], externalTools: [LOOK_UP] },
  act: () => (request) => once(request, COUNTED, ["question", { questions: [QUESTION] }, "q"], ["look_up", {}, "e"])
}

/** Ways of calls: run, asked for, held, cancelled, given to a sub-agent. */
export const calls = {
  /** Three calls wait, and are settled one after another. */
  asks: {
    ...threeWaits,
    requests: 2,
    runs: 1,
    play: async (user) => {
      await user.prompt("t", "go")
      await user.waits("t")
      const [request] = (await user.asks()).permissions
      await user.must(200, (api) => api.post(`${user.home}/permissions/${request?.requestId}/reply`, { reply: "once" }))
      const turn = await user.waits("t", (now) => settled(now, "shell"))
      const [question] = (await user.asks()).questions
      await user.must(200, (api) =>
        api.post(`${user.home}/questions/${question?.questionId}/reply`, { answers: [["left"]] })
      )
      await user.waits("t", (now) => settled(now, "question"))
      await user.must(200, (api) =>
        api.post(`${user.home}/turns/t/calls/${callIdOf(turn, "look_up")}/resolve`, { content: "found" })
      )
      return user.ended("t")
    }
  },
  /** The same three wait, and the turn is cancelled. */
  given: {
    ...threeWaits,
    requests: 1,
    runs: 0,
    play: async (user) => {
      await user.prompt("t", "go")
      await user.waits("t")
      await user.asks()
      await user.must(202, (api) => api.post(`${user.home}/turns/t/cancel`))
      return user.ended("t")
    }
  },
  /** A command that a rule allows. */
  rule: { config: ANY_COMMAND, act: () => (request) => once(request, COUNTED), requests: 2, runs: 1, play: simple() },
  /** A command that is cancelled while it runs. */
  cancel: {
    config: ANY_COMMAND,
    act: () => (request) =>
      answered(request)
        ? [{ type: "stall", headers: true }]
        : callsFor(["shell", { command: `${count("one")}; while [ -e ran.txt ]; do sleep 0.1; done` }]),
    requests: 1,
    runs: 1,
    play: async (user) => {
      await user.prompt("t", "go")
      await untilFact(() => counted(`${user.root}/${user.session}`).length > 0)
      await user.must(202, (api) => api.post(`${user.home}/turns/t/cancel`))
      return user.ended("t")
    }
  },
  /** A command that a hook holds until somebody lets it go. */
  hold: {
    config: ANY_COMMAND,
    act: () => (request) => once(request, COUNTED),
    requests: 2,
    runs: 1,
    play: async (user) => {
      await user.prompt("t", "go")
      const turn = await user.waits("t")
      await user.must(200, (api) =>
        api.post(`${user.home}/turns/t/calls/${callIdOf(turn, "shell")}/resolve`, { action: "execute" })
      )
      return user.ended("t")
    }
  },
  /** A sub-agent that is waited for. */
  task: {
    config: { ...ANY_COMMAND, agent: "general" },
    act: () => (request) => once(request, ["task", { prompt: kidOf(request) }]),
    child: () => (request) => once(request, COUNTED),
    requests: 2,
    runs: 1,
    play: simple()
  },
  /** A sub-agent whose result comes as a turn. */
  background: {
    config: { ...ANY_COMMAND, agent: "general" },
    act: () => (request) => once(request, ["task", { prompt: kidOf(request), background: true }]),
    child: (gate) => (request) => [
      ...(answered(request) ? [] : [{ type: "pause" as const, gate }]),
      ...once(request, COUNTED)
    ],
    requests: 3,
    runs: 1,
    play: async (user, gate) => {
      await user.prompt("t", "go")
      const turn = await user.ended("t")
      gate.open()
      await bothEnded(user)
      return turn
    }
  }
} satisfies Readonly<Record<string, Scenario>>

/** The prompt of a sub-agent, whose model goes by the name of its parent's. */
const kidOf = (request: ScriptedRequest): string => {
  const [first] = messagesOf(request)
  return `${first === undefined ? "" : textOf(first).split(":")[0]}-kid: count`
}

const bothEnded = (user: Tenacious): Promise<void> =>
  user.ask(async (api) => {
    const ended = new Set<string>()
    for await (const { data } of api.events(`${user.home}/events?afterCursor=0`)) {
      if (data.turn?.settledAt !== undefined) ended.add(data.turnId)
      if (ended.size === 2) return
    }
  })
