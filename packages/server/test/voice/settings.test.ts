import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { parseAgent } from "../../src/agents/agentFile.ts"
import { lineOf } from "../../src/voice/lines.ts"
import { TOOL_TIMEOUT_MILLIS, toolVoice, voiceOf } from "../../src/voice/voiceOf.ts"

const parse = (voice: string) =>
  parseAgent("desk.md", `---\ndescription: d\n${voice}\n---\nYou answer calls.\n`, "workdir")
const voice = (text: string) => Either.getOrThrow(parse(text)).voice
const problem = (text: string) => Either.getOrThrow(Either.flip(parse(text)))

describe("an agent's voice", () => {
  it("is read from its file, whole", () => {
    const text = `
voice:
  greeting: { en: Hello., de-DE: Hallo., no: Hei. }
  reprompt: Still there?
  apology: Oh dear.
  repeat: Again?
  goodbye: Bye.
  filler: [A moment., { default: Just a second. }]
  uninterruptible: [greeting, goodbye]
  language: en-GB
  speculation: off
  cleanup: false
  transfer: ["+15550100", "sip:desk@example.com"]
  fallbackModel: openai/gpt-5-mini
  askPermissions: true
  summary: true
  goodbyeAfter: 2
  limits: { callMillis: 600000, replyChars: 800, callCostUsd: 0.5 }
  tools:
    lookup: { start: I look it up., delayed: Nearly there., failed: No luck., timeoutMillis: 5000, onInterrupt: cancel }
  fillerAfterMillis: 1000
  fillerEveryMillis: 5000
  firstTokenMillis: 2000
  verb: { label: desk, tts: { vendor: cartesia, voice: sonic }, firstChunkTimeoutMs: 3000 }`
    expect(voiceOf(voice(text))).toEqual({
      lines: {
        greeting: { en: "Hello.", "de-DE": "Hallo.", no: "Hei." },
        reprompt: "Still there?",
        apology: "Oh dear.",
        repeat: "Again?",
        goodbye: "Bye."
      },
      filler: ["A moment.", { default: "Just a second." }],
      uninterruptible: new Set(["greeting", "goodbye"]),
      language: "en-GB",
      speculation: false,
      cleanup: false,
      transfer: ["+15550100", "sip:desk@example.com"],
      fallbackModel: "openai/gpt-5-mini",
      askPermissions: true,
      summary: true,
      goodbyeAfter: 2,
      limits: { callMillis: 600_000, replyChars: 800, callCostUsd: 0.5 },
      tools: {
        lookup: {
          start: "I look it up.",
          delayed: "Nearly there.",
          failed: "No luck.",
          timeoutMillis: 5_000,
          onInterrupt: "cancel"
        }
      },
      fillerAfterMillis: 1_000,
      fillerEveryMillis: 5_000,
      firstTokenMillis: 2_000,
      verb: { label: "desk", tts: { vendor: "cartesia", voice: "sonic" }, firstChunkTimeoutMs: 3_000 }
    })
  })

  it("is there without a word of it in the file", () => {
    expect(voice("mode: agent")).toBeUndefined()
    expect(voiceOf(undefined)).toEqual({
      lines: {
        reprompt: "Are you still there?",
        apology: "Sorry, something went wrong. Could you try that again?",
        repeat: "Sorry, could you say that again?",
        goodbye: "Goodbye."
      },
      filler: ["One moment, please."],
      uninterruptible: new Set(),
      speculation: true,
      cleanup: true,
      transfer: [],
      askPermissions: false,
      summary: false,
      goodbyeAfter: 3,
      limits: {},
      tools: {},
      fillerAfterMillis: 1_500,
      fillerEveryMillis: 8_000,
      firstTokenMillis: 3_000,
      verb: {}
    })
  })

  it("says no filler when the list is empty, and knows switches by either name", () => {
    expect(voiceOf(voice("voice: { filler: [] }")).filler).toEqual([])
    const switched = (text: string) => voice(`voice: { speculation: ${text} }`)?.speculation
    expect(["on", "true", "off", "false"].map(switched)).toEqual([true, true, false, false])
  })

  it.each([
    ["voice: { greet: Hi }", /^voice\.greet: /],
    ["voice: { limits: { callSeconds: 5 } }", /^voice\.limits\.callSeconds: /],
    ["voice: { limits: { callMillis: 0 } }", /^voice\.limits\.callMillis: /],
    ["voice: { tools: { lookup: { begin: Hi } } }", /^voice\.tools\.lookup\.begin: /],
    ["voice: { tools: { lookup: { onInterrupt: ignore } } }", /^voice\.tools\.lookup\.onInterrupt: /],
    ["voice: { uninterruptible: [filler] }", /^voice\.uninterruptible\.0: /],
    ["voice: { language: english please }", /^voice\.language: /],
    ["voice: { speculation: maybe }", /^voice\.speculation: /],
    ["voice: { fallbackModel: gpt }", /^voice\.fallbackModel: /],
    ["voice: { filler: Wait. }", /^voice\.filler: /],
    ["voice: { goodbye: '  ' }", /^voice\.goodbye/],
    ["voice: { goodbye: {} }", /^voice\.goodbye/],
    ["voice: { goodbye: { en: 5 } }", /^voice\.goodbye/],
    ["voice: { goodbye: { 'not a tag': Bye } }", /^voice\.goodbye/],
    ["voice: { transfer: '+15550100' }", /^voice\.transfer: /]
  ])("refuses %s, and names the place", (text, said) => {
    expect(problem(text)).toMatch(said)
  })

  it("has a deadline and a way with interruptions for every tool", () => {
    const settings = voiceOf({ tools: { lookup: { start: "Hm.", onInterrupt: "cancel" } } })
    expect(toolVoice(settings, "lookup")).toEqual({
      start: "Hm.",
      timeoutMillis: TOOL_TIMEOUT_MILLIS,
      onInterrupt: "cancel"
    })
    expect(toolVoice(settings, "constructor")).toEqual({ timeoutMillis: TOOL_TIMEOUT_MILLIS, onInterrupt: "detach" })
  })
})

describe("a line", () => {
  const line = { en: "Hello", "de-DE": "Hallo", "pt-BR": "Oi", pt: "Olá", default: "Hi" }

  it.each([
    ["en", "Hello"],
    ["EN-us", "Hello"],
    ["pt-BR", "Oi"],
    ["pt_br", "Oi"],
    ["pt-PT", "Olá"],
    ["pt-BR-x-rio", "Oi"],
    ["de-DE", "Hallo"],
    ["de", "Hallo"],
    ["de-AT", "Hallo"],
    ["fr", "Hi"],
    ["", "Hi"],
    [undefined, "Hi"]
  ])("in %s is %s", (language, said) => {
    expect(lineOf(line, language)).toBe(said)
  })

  it("is the first there is when nothing fits, and itself when it has no languages", () => {
    expect(lineOf({ fr: "Bonjour", it: "Ciao" }, "ja")).toBe("Bonjour")
    expect(lineOf("Hello", "ja")).toBe("Hello")
  })
})
