import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openCall, playCall } from "../src/LiveCall.ts"
import type { Report } from "../src/report.ts"
import { bargeIn, drop, hangUp, reply, say, silence, words } from "../src/script.ts"
import { type CallSettings, callSettings } from "../src/settings.ts"
import { type Connection, type Message, startHarness, type TestHarness } from "./kit/harness.ts"

const settings = (more: typeof CallSettings.Encoded = {}) => callSettings({ speed: 20, noResponseTimeout: 0, ...more })

const play = (harness: TestHarness, steps: Parameters<typeof playCall>[1], more: typeof CallSettings.Encoded = {}) =>
  Effect.runPromise(playCall({ url: harness.url, settings: settings(more) }, steps))

/** Answers every turn with the same words. */
const polite = ({ type, turn_id }: Message, { reply }: Connection) => {
  if (type === "turn:start") reply(`r${turn_id}`, turn_id, "I hear you well.")
}

const heard = ({ heard }: Report) => heard.map(({ text }) => text)
const frames = ({ timeline }: Report, type: string) =>
  timeline.flatMap(({ direction, frame }) =>
    typeof frame === "object" && frame !== null && "type" in frame && frame.type === type
      ? [{ direction, ...frame }]
      : []
  )

describe("the socket is dropped by the harness", () => {
  it("the call goes on over a new one, with resumed and last_turn_id", async () => {
    await using harness = await startHarness(({ input, resumed, turn_id, type }, { chunk, reply, socket }) => {
      if (resumed === true) reply("r2", 2, "and the rest.")
      if (type !== "turn:start") return
      if (input?.type === "greeting") reply("r1", 1, "Hello.")
      else if (turn_id === 2) {
        chunk("r2", 2, "Half of it ")
        socket.close(1012)
      }
    })
    const report = await play(harness, [say("go on"), reply(), hangUp()])
    assert.isUndefined(report.failure)
    assert.deepStrictEqual(heard(report), ["Hello.", "Half of it and the rest."])
    assert.strictEqual(report.reason, "caller_hangup")
    const [first, second] = harness.connections
    assert.strictEqual(await first?.closed, 1012)
    assert.deepInclude(second?.got[0], { type: "session:start", resumed: true, last_turn_id: 2, call_sid: "CA-0001" })
    assert.deepStrictEqual(report.faults, [])
  })

  it("and tried until it works, within its time", async () => {
    let refusals = 0
    await using harness = await startHarness(
      ({ last_turn_id, resumed, turn_id, type }, { reply, socket }) => {
        // Whatever the caller said to the dead socket is answered over the new one.
        if (resumed === true) reply("again", Number(last_turn_id), "Sorry?")
        if (type !== "turn:start") return
        reply(`r${turn_id}`, turn_id, "Hello.")
        if (turn_id === 1) socket.terminate()
      },
      (_, connections) => (connections === 1 && refusals++ < 2 ? 503 : undefined)
    )
    const report = await play(harness, [say("hello"), reply()])
    assert.isUndefined(report.failure)
    assert.strictEqual(refusals, 3)
  })

  it("in vain: On failure, and the line is heard", async () => {
    await using harness = await startHarness(
      ({ turn_id, type }, { reply, socket }) => {
        if (type !== "turn:start") return
        reply(`r${turn_id}`, turn_id, "Hello.")
        socket.close(1011)
      },
      (_, connections) => (connections === 0 ? undefined : 503)
    )
    const report = await play(harness, [say("hello")], { reconnectMs: 300, onHarnessFailure: { say: "Sorry." } })
    assert.strictEqual(report.failure?.reason, "disconnected")
    assert.deepStrictEqual(heard(report), ["Hello.", "Sorry."])
    assert.strictEqual(report.reason, "error")
  })
})

describe("the network fails", () => {
  it("half open: the harness is not told, and answers the new socket", async () => {
    await using harness = await startHarness(({ resumed, turn_id, type }, { done, chunk, reply }) => {
      if (resumed === true) done("r2", 2)
      if (turn_id === 1 && type === "turn:start") reply("r1", 1, "Hello.")
      if (turn_id === 2 && type === "turn:start") chunk("r2", 2, "One two three four.")
    })
    const report = await play(harness, [
      say("count"),
      words(2),
      drop({ resumeAfterMs: 50, halfOpen: true }),
      reply(),
      hangUp()
    ])
    assert.isUndefined(report.failure)
    assert.deepStrictEqual(heard(report), ["Hello.", "One two three four."])
    assert.lengthOf(harness.connections, 2)
    // It only ends with the call.
    assert.strictEqual(await harness.connections[0]?.closed, 1006)
    assert.strictEqual(await harness.connections[1]?.closed, 1000)
  })

  it("for good: On failure", async () => {
    await using harness = await startHarness(polite)
    const report = await play(harness, [reply(), drop({}), silence(3)], { reconnectMs: 100 })
    assert.strictEqual(report.failure?.reason, "disconnected")
    assert.lengthOf(harness.connections, 1)
    assert.strictEqual(frames(report, "session:end")[0]?.direction, "lost")
  })
})

describe("the socket cannot be opened", () => {
  it.each([401, 404, 503])("HTTP %d runs On failure at once", async (status) => {
    await using harness = await startHarness(polite, () => status)
    const report = await play(harness, [say("hello")], { onHarnessFailure: { say: "Sorry." } })
    assert.deepStrictEqual(report.failure, { reason: "connect", message: `refused with HTTP ${status}` })
    assert.deepStrictEqual(heard(report), ["Sorry."])
  })

  it("nor when the harness closes with 4000", async () => {
    await using harness = await startHarness((_, { socket }) => socket.close(4000, "protocol 1 is not spoken"))
    const report = await play(harness, [say("hello")])
    assert.deepInclude(report.failure, { reason: "connect" })
    assert.include(report.failure?.message, "protocol 1 is not spoken")
  })
})

describe("a harness that breaks a rule", () => {
  it("is told so in the report, each time", async () => {
    await using harness = await startHarness(({ turn_id, type }, { chunk, done, send, socket }) => {
      if (type !== "turn:start" || turn_id !== 1) return
      socket.send(Buffer.from("audio"))
      socket.send("{")
      send({ type: "reply:chunk", reply_id: "r1", turn_id, chunk: { choices: [{ delta: { content: "Hello." } }] } })
      chunk("r1", turn_id, " You.", { interruptible: false })
      chunk("r9", 9, "Too early.")
      done("r1", turn_id)
      done("r1", turn_id)
    })
    const { faults } = await play(harness, [reply(), hangUp()])
    assert.deepStrictEqual(
      faults.map(({ kind }) => kind),
      ["socket", "schema", "refused", "schema", "schema", "refused", "refused"]
    )
    const told = faults.map(({ message }) => message).join("\n")
    for (const words of ["binary", "no JSON object", "chunk.id", "first chunk", "turn_not_started", "duplicate_id"]) {
      assert.include(told, words)
    }
  })

  it("a late frame is no fault", async () => {
    await using harness = await startHarness(({ turn_id, type }, { chunk, reply }) => {
      if (type === "turn:start" && turn_id === 1) chunk("r1", 1, "One two three four five. ")
      if (type === "turn:cancel") chunk("r1", 1, "Too late.")
      if (type === "turn:start" && turn_id === 2) reply("r2", 2, "Yes?")
    })
    const report = await play(harness, [bargeIn({ afterWords: 2, text: "stop" }), reply(), hangUp()])
    assert.deepStrictEqual(report.faults, [])
    assert.strictEqual(report.late, 1)
    assert.deepStrictEqual(heard(report), ["One two", "Yes?"])
  })
})

describe("a script", () => {
  it("that wants what does not come is a fault", async () => {
    await using harness = await startHarness(polite)
    const { faults } = await play(harness, [bargeIn({ afterWords: 9, text: "stop" })])
    assert.deepStrictEqual(
      faults.map(({ kind, message }) => `${kind}: ${message}`),
      ["script: no word 9 was heard: the reply was over"]
    )
  })

  it("may be played piece by piece, and the call looked at between", async () => {
    await using harness = await startHarness((message, connection) => {
      polite(message, connection)
      if (message["name"] === "dtmf") connection.reply(`u${message["digits"]}`, undefined, "Noted.")
    })
    const [words, report] = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const call = yield* openCall({ url: harness.url, settings: settings() })
          yield* call.play([reply()])
          yield* call.input({ _tag: "Presses", digits: "7" })
          const words = yield* call.until(({ call }) => call.heard.find(({ replyId }) => replyId === "u7")?.text)
          yield* call.play([say("thanks"), reply(), hangUp()])
          return [words, yield* call.report] as const
        })
      )
    )
    assert.strictEqual(words, "Noted.")
    assert.deepStrictEqual(heard(report), ["I hear you well.", "Noted.", "I hear you well."])
  })
})
