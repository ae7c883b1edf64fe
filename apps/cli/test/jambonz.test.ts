import { assert, describe, it } from "@effect/vitest"
import { run } from "./kit/cli.ts"

const SECRET = "a-secret-of-jambonz"
const args = ["jambonz", "--agent", "desk", "--base", "https://harness.example"]

describe("jambonz", () => {
  it("names what to enter, where calls come in, and the verb; the secret by its name alone", async () => {
    const { code, err, out } = await run(args, { env: { HARNESS_JAMBONZ_SECRET: SECRET } })
    assert.strictEqual(code, 0)
    assert.match(out, /^ {2}url +wss:\/\/harness\.example\/v1\/servers\/default\/jambonz\?agent=desk$/m)
    assert.match(out, /^ {2}secret +the value of HARNESS_JAMBONZ_SECRET$/m)
    assert.match(out, /^ {2}subprotocol +harness\.jambonz\.org$/m)
    assert.match(out, /^ {2}webhook +POST https:\/\/harness\.example\/v1\/servers\/default\/jambonz\/app\?agent=desk$/m)
    assert.notInclude(out + err, SECRET)
    assert.match(err, /HARNESS_ALLOWED_HOSTS=harness\.example/)
    assert.notMatch(err, /whoever knows/)
  })

  it("says that there is no secret, and what is then open", async () => {
    const { code, err, out } = await run(args)
    assert.strictEqual(code, 0)
    assert.match(out, /^ {2}secret +none: /m)
    assert.match(err, /without HARNESS_JAMBONZ_SECRET/)
  })

  it("prefers the server's own secret, and shows it where it is asked to", async () => {
    const env = { HARNESS_JAMBONZ_SECRET: SECRET, HARNESS_JAMBONZ_SECRET_FRONT_DESK: "its-own" }
    const { out } = await run(["jambonz", "--server", "front-desk", "--show-secret"], { env })
    assert.match(out, /^ {2}secret +its-own$/m)
    assert.match(out, /^ {2}url +ws:\/\/127\.0\.0\.1:4700\/v1\/servers\/front-desk\/jambonz$/m)
  })

  it("prints JSON that can be sent as it is", async () => {
    const { err, out } = await run([...args, "--json"], { env: { HARNESS_JAMBONZ_SECRET: SECRET } })
    assert.strictEqual(err, "")
    const home = "harness.example/v1/servers/default/jambonz"
    assert.deepStrictEqual(JSON.parse(out), {
      url: `wss://${home}?agent=desk`,
      subprotocol: "harness.jambonz.org",
      secret: { variable: "HARNESS_JAMBONZ_SECRET" },
      application: {
        webhook: `https://${home}/app?agent=desk`,
        socket: `wss://${home}/app?agent=desk`,
        subprotocol: "ws.jambonz.org"
      },
      verb: {
        verb: "agent",
        llm: {
          vendor: "harness",
          harness: { metadata: { agent: "desk", firstChunkTimeoutMs: 4000 }, firstChunkTimeoutMs: 4000 }
        },
        noResponseTimeout: 10,
        toolHook: `https://${home}/tool`,
        eventHook: `https://${home}/event`,
        actionHook: `https://${home}/done`
      }
    })
  })

  it("refuses an address that is none", async () => {
    const { code, err } = await run(["jambonz", "--base", "harness.example"])
    assert.strictEqual(code, 2)
    assert.match(err, /--base must be an address that begins with https:\/\//)
  })

  it("warns of an open address that is not encrypted", async () => {
    assert.match((await run(["jambonz", "--base", "http://203.0.113.9"])).err, /only on a private network/)
    assert.notMatch((await run(["jambonz", "--base", "http://10.0.0.9"])).err, /only on a private network/)
  })
})
