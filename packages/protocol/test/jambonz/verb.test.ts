import { createRequire } from "node:module"
import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { SchemaError } from "../../src/decode.ts"
import {
  AgentVerb,
  type AgentVerbOptions,
  agentVerb,
  HarnessSettings,
  harnessUrl,
  NO_RESPONSE_TIMEOUT
} from "../../src/jambonz/index.ts"

const jambonz: {
  readonly validateApp: (app: ReadonlyArray<unknown>) => { readonly valid: boolean; readonly errors: unknown }
  readonly validateVerb: (name: string, data: object, logger: object) => void
} = createRequire(import.meta.url)("@jambonz/schema")

const tool = { name: "lookup_account", description: "Looks it up.", parameters: { type: "object" } }
const full: AgentVerbOptions = {
  label: "my-harness",
  stt: { vendor: "deepgramflux", language: "en-US" },
  tts: { vendor: "cartesia", voice: "sonic-english" },
  tools: [tool, { type: "function", function: { ...tool, name: "other" } }],
  metadata: { agent: "outage-line" },
  firstChunkTimeoutMs: 2_500,
  holdingPhrase: "One moment.",
  onHarnessFailure: { say: "Sorry.", transfer: "+15085550100" },
  handoff: { mode: "blind", target: [{ type: "phone", number: "+15085550100" }] },
  bargeIn: { enable: true, minSpeechDuration: 0.3 },
  turnDetection: { mode: "krisp", threshold: 0.3 },
  toolHook: { url: "/tool", method: "POST", basicAuth: { username: "u", password: "p" } },
  eventHook: "/event",
  actionHook: "/done"
}

const accepted = (verb: unknown) => Either.isRight(Schema.decodeUnknownEither(AgentVerb)(verb))
const verb = agentVerb(full)
const llm = (more: object) => ({ ...verb, llm: { ...verb.llm, ...more } })
const settings = (more: object) => llm({ harness: { ...verb.llm.harness, ...more } })

describe("agentVerb", () => {
  it("builds the verb, and says how long jambonz waits", () => {
    expect(verb).toEqual({
      verb: "agent",
      stt: full.stt,
      tts: full.tts,
      llm: {
        vendor: "harness",
        label: "my-harness",
        llmOptions: { tools: full.tools },
        harness: {
          metadata: { agent: "outage-line", firstChunkTimeoutMs: 2_500 },
          firstChunkTimeoutMs: 2_500,
          holdingPhrase: "One moment.",
          onHarnessFailure: full.onHarnessFailure
        }
      },
      handoff: full.handoff,
      bargeIn: full.bargeIn,
      turnDetection: full.turnDetection,
      toolHook: full.toolHook,
      eventHook: "/event",
      actionHook: "/done",
      noResponseTimeout: NO_RESPONSE_TIMEOUT
    })
  })

  it("of nothing is the least verb", () => {
    expect(agentVerb()).toEqual({
      verb: "agent",
      llm: { vendor: "harness", harness: { metadata: { firstChunkTimeoutMs: 4_000 }, firstChunkTimeoutMs: 4_000 } },
      noResponseTimeout: 10
    })
    expect(agentVerb({ label: undefined, tools: undefined })).toEqual(agentVerb())
    expect(agentVerb({ metadata: { firstChunkTimeoutMs: 1 } })).toEqual(agentVerb())
  })

  it("is written as it is", () => {
    expect(Schema.encodeSync(AgentVerb)(verb)).toEqual(verb)
  })

  it.each([
    ["a wait too short", { firstChunkTimeoutMs: 499 }, "llm.harness.firstChunkTimeoutMs"],
    ["half a millisecond", { firstChunkTimeoutMs: 900.5 }, "llm.harness.firstChunkTimeoutMs"],
    ["a tool without a name", { tools: [{ name: "" }] }, "llm.llmOptions.tools.0.name"]
  ])("refuses %s, and quotes nothing", (_, options, path) => {
    const build = Either.try({ try: () => agentVerb(options), catch: (error) => error })
    const error = Either.getOrThrow(Either.flip(build))
    if (!(error instanceof SchemaError)) throw error
    expect(error.issues.map((issue) => issue.path)).toContain(path)
    expect(error.message).not.toMatch(/499|900/)
  })
})

describe("jambonz's own schema takes it", () => {
  /** 0.4.15 knows neither `llm.harness` nor a null label; 0.4.32 does. */
  const before32 = (built: AgentVerb) => {
    const { harness: _, label, ...older } = built.llm
    return { ...built, llm: typeof label === "string" ? { ...older, label } : older }
  }

  it.each<[string, AgentVerb]>([
    ["the least", agentVerb()],
    ["the fullest", verb],
    ["with a null label", agentVerb({ label: null })],
    ["with what is off said to be off", { ...verb, mcpServers: [], toolFiller: false, earlyGeneration: false }]
  ])("%s", (_, built) => {
    const older = before32(built)
    const { verb: name, ...data } = older
    expect(() => jambonz.validateVerb(name, data, console)).not.toThrow()
    expect(jambonz.validateApp([older])).toEqual({ valid: true, errors: [] })
  })

  it("and refuses what is wrong", () => {
    expect(jambonz.validateApp([{ ...before32(verb), turnDetection: "guess" }]).valid).toBe(false)
    expect(accepted({ ...verb, turnDetection: "guess" })).toBe(false)
  })
})

describe("AgentVerb refuses", () => {
  const cases: ReadonlyArray<readonly [string, unknown, unknown]> = [
    ["a model", llm({ model: "gpt-4.1" }), llm({})],
    ["credentials", llm({ auth: { apiKey: "k" } }), llm({})],
    ["connection options", llm({ connectOptions: {} }), llm({})],
    ["a system prompt", llm({ llmOptions: { tools: [], systemPrompt: "x" } }), llm({ llmOptions: { tools: [] } })],
    ["messages", llm({ llmOptions: { messages: [] } }), llm({ llmOptions: {} })],
    ["temperature", llm({ llmOptions: { temperature: 0 } }), llm({ llmOptions: { tools: [tool] } })],
    ["an unknown key of llm", llm({ url: "wss://example.com" }), llm({})],
    ["an unknown key of llm.harness", settings({ apiKey: "k" }), settings({})],
    [
      "an unknown key of onHarnessFailure",
      settings({ onHarnessFailure: { play: "x" } }),
      settings({ onHarnessFailure: {} })
    ],
    ["a wait of 499 ms", settings({ firstChunkTimeoutMs: 499 }), settings({ firstChunkTimeoutMs: 500 })],
    ["a wait of 1000.5 ms", settings({ firstChunkTimeoutMs: 1000.5 }), settings({ firstChunkTimeoutMs: 1000 })],
    ["a wait in words", settings({ firstChunkTimeoutMs: "4000" }), settings({ firstChunkTimeoutMs: undefined })],
    ["MCP servers", { ...verb, mcpServers: [{ url: "https://example.com" }] }, { ...verb, mcpServers: [] }],
    ["a tool filler", { ...verb, toolFiller: { type: "backchannel" } }, { ...verb, toolFiller: false }],
    ["early generation", { ...verb, earlyGeneration: true }, { ...verb, earlyGeneration: false }],
    ["speech cleanup", { ...verb, speechCleanup: true }, { ...verb, speechCleanup: false }],
    ["prompts of its own", { ...verb, noResponseMaxPrompts: 2 }, { ...verb, noResponseMaxPrompts: 0 }],
    ["a harness without the vendor", llm({ vendor: "openai" }), llm({ vendor: "harness" })],
    ["a harness without any vendor", llm({ vendor: undefined }), llm({ harness: undefined })],
    ["a numbered label", llm({ label: 1 }), llm({ label: null })],
    ["a handoff that is none", { ...verb, handoff: "sales" }, { ...verb, handoff: { mode: "warm" } }],
    ["a tool without a name", llm({ llmOptions: { tools: [{}] } }), llm({ llmOptions: { tools: [{ name: "a" }] } })],
    ["another verb", { ...verb, verb: "say" }, { ...verb, id: "one" }]
  ]

  it.each(cases)("%s", (_, refused, taken) => {
    expect(accepted(refused)).toBe(false)
    expect(accepted(taken)).toBe(true)
  })

  it("unknown settings of a harness and of its failure also by themselves", () => {
    const alone = Schema.decodeUnknownEither(HarnessSettings)
    expect(Either.isRight(alone({ onHarnessFailure: { say: "Sorry." } }))).toBe(true)
    expect(Either.isRight(alone({ apiKey: "k" }))).toBe(false)
    expect(Either.isRight(alone({ onHarnessFailure: { play: "x" } }))).toBe(false)
  })

  it("nothing that is not ours to judge: it is kept", () => {
    const more = { ...verb, noiseIsolation: "krisp", hangup: { reason: "bye" }, fromALaterRelease: { x: [1] } }
    expect(Schema.decodeUnknownSync(AgentVerb)(more)).toEqual(more)
  })
})

it("harnessUrl is the voice route of a server", () => {
  const base = "https://voice.example.com/"
  expect(harnessUrl({ base, server: "home" })).toBe("wss://voice.example.com/v1/servers/home/jambonz")
  expect(harnessUrl({ base: "http://127.0.0.1:4096", server: "home", agent: "outage line" })).toBe(
    "ws://127.0.0.1:4096/v1/servers/home/jambonz?agent=outage+line"
  )
})
