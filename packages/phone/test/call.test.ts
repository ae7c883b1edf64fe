import { assert, describe, it } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import { playCall } from "../src/LiveCall.ts"
import type { Entry } from "../src/report.ts"
import { bargeIn, say } from "../src/script.ts"
import { callSettings } from "../src/settings.ts"
import { startHarness } from "./kit/harness.ts"

/** One line for a frame, as the protocol's page shows a call. */
const shown = ({ direction, frame }: Entry): string => {
  if (!Predicate.isReadonlyRecord(frame)) return String(frame)
  const { call_sid: _, chunk, type, ...fields } = frame
  const content = JSON.stringify(chunk)?.match(/"content":("(?:[^"\\]|\\.)*")/)?.[1]
  const said = content === undefined ? {} : { content: JSON.parse(content) }
  return `${direction} ${type} ${JSON.stringify({ ...fields, ...said })}`
}

describe("the call on the protocol's page", () => {
  it("is played frame for frame", async () => {
    await using harness = await startHarness(({ input, type, turn_id }, { chunk, done, send }) => {
      if (type === "tool:result") chunk("r2", 2, "We're open eight to six on weekdays.")
      if (type !== "turn:start") return
      if (turn_id === 1) {
        chunk("r1", 1, "Thanks for calling Acme.")
        done("r1", 1, { turn_record: { route: "chat" } })
      }
      if (input?.text === "When are you open") {
        send({ type: "tool:call", call_id: "t1", turn_id: 2, name: "get_hours", args: {} })
      }
      if (input?.text === "Thanks, bye") {
        send({ type: "command", command_id: "c1", name: "hangup", args: { reason: "resolved" } })
      }
    })
    const report = await Effect.runPromise(
      playCall(
        {
          url: harness.url,
          secret: "s3cret",
          settings: callSettings({
            speed: 10,
            tools: [{ name: "get_hours" }],
            toolAnswers: { get_hours: { result: { weekdays: "8am to 6pm" } } }
          })
        },
        [
          say("When are you open", { interim: ["When are you"] }),
          bargeIn({ afterWords: 3, text: "Thanks, bye", interim: false })
        ]
      )
    )
    const [start, ...rest] = report.timeline.map(shown)
    assert.include(start, 'session:start {"protocol":1')
    assert.deepStrictEqual(rest.slice(0, -1), [
      'jambonz → harness turn:start {"turn_id":1,"input":{"type":"greeting"}}',
      'harness → jambonz reply:chunk {"reply_id":"r1","turn_id":1,"content":"Thanks for calling Acme."}',
      'harness → jambonz reply:done {"reply_id":"r1","turn_id":1,"turn_record":{"route":"chat"}}',
      // The page leaves this one out.
      'jambonz → harness event {"name":"reply_spoken","reply_id":"r1"}',
      'jambonz → harness speech:start {"turn_id":2}',
      'jambonz → harness transcript {"turn_id":2,"text":"When are you","final":false}',
      'jambonz → harness transcript {"turn_id":2,"text":"When are you open","final":true}',
      'jambonz → harness turn:start {"turn_id":2,"input":{"type":"speech","text":"When are you open","language":"en-US"}}',
      'harness → jambonz tool:call {"call_id":"t1","turn_id":2,"name":"get_hours","args":{}}',
      'jambonz → harness tool:result {"call_id":"t1","result":{"weekdays":"8am to 6pm"}}',
      'harness → jambonz reply:chunk {"reply_id":"r2","turn_id":2,"content":"We\'re open eight to six on weekdays."}',
      'jambonz → harness event {"name":"user_interruption","turn_id":2,"reply_id":"r2","spoken":"We\'re open eight","unspoken":" to six on weekdays."}',
      'jambonz → harness turn:cancel {"turn_id":2,"reason":"barge_in"}',
      'jambonz → harness turn:start {"turn_id":3,"input":{"type":"speech","text":"Thanks, bye","language":"en-US"}}',
      'harness → jambonz command {"command_id":"c1","name":"hangup","args":{"reason":"resolved"}}',
      'jambonz → harness command:result {"command_id":"c1","ok":true}'
    ])
    assert.match(rest.at(-1) ?? "", /session:end \{"reason":"harness_hangup","duration_ms":\d+\}$/)
    assert.deepStrictEqual(report.faults, [])
    assert.deepStrictEqual(
      report.heard.map(({ text }) => text),
      ["Thanks for calling Acme.", "We're open eight"]
    )
    const [connection] = harness.connections
    assert.strictEqual(connection?.request.headers.authorization, "Bearer s3cret")
    assert.strictEqual(connection?.request.headers["sec-websocket-protocol"], "harness.jambonz.org")
    assert.strictEqual(await connection?.closed, 1000)
    assert.isTrue(connection?.got.every(({ call_sid }) => call_sid === "CA-0001"))
  })
})
