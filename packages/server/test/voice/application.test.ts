import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ServerName } from "@harness/protocol"
import { AgentVerb, agentVerb, CallSid } from "@harness/protocol/jambonz"
import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { parseAgent } from "../../src/agents/agentFile.ts"
import { appVerb } from "../../src/jambonz/appVerb.ts"
import { isSigned, passwordOf } from "../../src/jambonz/secret.ts"
import { latencyOf, percentile } from "../../src/voice/latency.ts"
import { voiceOf } from "../../src/voice/voiceOf.ts"

const top = fileURLToPath(new URL("../../../..", import.meta.url))
const file = (path: string) => readFileSync(join(top, path), "utf8")

describe("who jambonz is known by", () => {
  const body = Buffer.from('{"call_sid":"a"}')
  const at = 1_800_000_000
  const sign = (text: Buffer, secret: string) =>
    createHmac("sha256", secret).update(`${at}.`).update(text).digest("hex")
  const good = sign(body, "s")

  it.each([
    [`t=${at},v1=${good}`, true],
    [`t=${at}, v1=${sign(body, "old")}, v1=${good.toUpperCase()}`, true],
    [`t=${at},v0=${good}`, false],
    [`t=${at + 1},v1=${good}`, false],
    [`t=${at}`, false],
    [`v1=${good}`, false],
    [`t=x,v1=${good}`, false],
    ["", false]
  ])("%s", (header, known) => {
    expect(isSigned(header, body, "s", at * 1000)).toBe(known)
  })

  it("a signature is good for five minutes, whichever clock is wrong", () => {
    const header = `t=${at},v1=${good}`
    for (const [off, known] of [
      [300, true],
      [301, false],
      [-300, true],
      [-301, false]
    ] as const) {
      expect(isSigned(header, body, "s", (at + off) * 1000)).toBe(known)
    }
  })

  it("a password may hold colons, and needs a user's name before it", () => {
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`
    expect(passwordOf(basic("jambonz:a:b"))).toBe("a:b")
    expect(passwordOf(basic(":"))).toBe("")
    expect(passwordOf(basic("nothing"))).toBeUndefined()
    expect(passwordOf("Bearer x")).toBeUndefined()
    expect(passwordOf(undefined)).toBeUndefined()
  })
})

describe("waits", () => {
  it("are told by values that occurred", () => {
    const hundred = Array.from({ length: 100 }, (_, at) => 100 - at)
    expect([percentile(hundred, 0.5), percentile(hundred, 0.95)]).toEqual([50, 95])
    expect([percentile([7], 0.5), percentile([7], 0.95), percentile([], 0.5)]).toEqual([7, 7, undefined])
  })

  it("leave out what was not measured", () => {
    const turn = { turn: 1, model_first_token_ms: null, first_chunk_ms: 12, jambonz_first_chunk_ms: "fast" }
    expect(latencyOf([turn, { ...turn, turn: 2, first_chunk_ms: 4 }])).toEqual({
      first_chunk_ms: { turns: 2, p50: 4, p95: 12 }
    })
    expect(latencyOf([])).toEqual({})
  })
})

describe("the verb of the application", () => {
  const verb = (voice: Parameters<typeof voiceOf>[0]) =>
    appVerb({ server: ServerName.make("default"), agent: "a", voice: voiceOf(voice), callSid: CallSid.make("c") })

  it("has the agent's own words for a wait, and none where it wants none", () => {
    expect(verb({}).llm.harness?.holdingPhrase).toBe("One moment, please.")
    expect(verb({ filler: [] }).llm.harness?.holdingPhrase).toBeUndefined()
    expect(verb({ verb: { holdingPhrase: "Hm." } }).llm.harness?.holdingPhrase).toBe("Hm.")
  })

  it("is refused in an agent's file when jambonz would refuse it", () => {
    const parse = (text: string) =>
      parseAgent("a.md", `---\ndescription: d\nvoice: { verb: { ${text} } }\n---\n`, "workdir")
    expect(Either.isRight(parse("stt: { vendor: deepgram, language: de }"))).toBe(true)
    for (const text of ["firstChunkTimeoutMs: 499", "tools: []", "onHarnessFailure: { hangup: true }", "stt: {}"]) {
      expect(Either.isLeft(parse(text)), text).toBe(true)
    }
  })
})

describe("the example of a phone that is answered", () => {
  it("has an agent and a verb that are taken", () => {
    const agent = parseAgent("desk.md", file("examples/voice/.harness/agents/desk.md"), "workdir")
    expect(Either.getOrThrow(agent).voice?.verb?.label).toBe("acme-harness")
    const verbs = Schema.decodeUnknownSync(Schema.parseJson(Schema.Tuple(AgentVerb)))(file("examples/voice/verb.json"))
    expect(verbs[0].llm.label).toBe("acme-harness")
    expect(verbs[0].noResponseTimeout).toBe(agentVerb().noResponseTimeout)
  })
})

it("every message, event, command and field of the protocol's schemas has its place in docs/voice.md", () => {
  const page = file("docs/voice.md")
  const folder = "packages/protocol/src/jambonz"
  const names = ["inbound.ts", "outbound.ts", "events.ts", "commands.ts"].flatMap((name) => {
    const text = file(`${folder}/${name}`)
    const fields = [...text.matchAll(/^\s+([a-z]+(?:_[a-z]+)+):/gm)]
    const literals = [...text.matchAll(/(?:Schema\.Literal|event|message|command)\("([^")]+)"/g)]
    return [...fields, ...literals].map(([, word]) => word ?? "")
  })
  // What is in a chunk is not of this protocol; an event of no known name has none on the page.
  const others = ["finish_reason", "chat.completion.chunk", "other_event"]
  expect(names.length).toBeGreaterThan(30)
  expect([...new Set(names)].filter((name) => !page.includes(name) && !others.includes(name))).toEqual([])
})
