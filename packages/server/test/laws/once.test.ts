import { expect, it } from "vitest"
import { wholeLog } from "../kit/follower.ts"
import { makeGate, says } from "../kit/scriptedModel.ts"
import { stage } from "../kit/stage.ts"
import type { Answer } from "../kit/wire.ts"

const { act, api, ended, requests, server, session } = stage()

const AT_ONCE = 8

/** A mutation that may be sent again. */
interface Mutation {
  readonly name: string
  /** Makes what it needs; answers where its effect shows. */
  readonly prepare: () => Promise<string>
  readonly send: (body: object) => Promise<Answer>
  readonly body: object
  readonly other: object
  /** Rows of the session's log that are its effect. */
  readonly effect: (row: { readonly type: string; readonly data: Answer["body"] }) => boolean
  readonly first: number
  readonly again: number
  /** What every answer names, whenever it is given. */
  readonly same: ReadonlyArray<string>
}

const put = async (path: string, body: object) => (await api()).put(path, body)
const post = async (path: string, body: object) => (await api()).post(path, body)

const gate = makeGate()

const mutations: ReadonlyArray<Mutation> = [
  {
    name: "create a session",
    prepare: async () => "made",
    send: (body) => put("/sessions/made", body),
    body: { title: "one", metadata: { a: 1, b: [2] } },
    other: { title: "another" },
    effect: ({ type }) => type === "session.created",
    first: 201,
    again: 200,
    same: ["sessionId", "createdAt"]
  },
  {
    name: "submit a prompt",
    prepare: async () => {
      await session("submit")
      return "submit"
    },
    send: (body) => put("/sessions/submit/turns/t", body),
    body: { content: "submit: once" },
    other: { content: "submit: something else" },
    effect: ({ data }) => data.revision === 1,
    first: 202,
    again: 202,
    same: ["turnId", "sessionId"]
  },
  {
    name: "submit a prompt that makes its session",
    prepare: async () => "both",
    send: (body) => put("/sessions/both/turns/t", body),
    body: { content: "both: once", session: { title: "made with it" } },
    other: { content: "both: once", session: { title: "another" } },
    effect: ({ data, type }) => type === "session.created" || data.revision === 1,
    first: 202,
    again: 202,
    same: ["turnId", "sessionId"]
  },
  {
    name: "steer a turn",
    prepare: async () => {
      const home = await session("steer")
      act("steer", (_, step) => (step === 0 ? [{ type: "pause", gate }, ...says("a")] : says("b")))
      await put(`${home}/turns/t`, { content: "steer: go" })
      await gate.isReached
      return "steer"
    },
    send: (body) => post("/sessions/steer/turns/t/steer/s", body),
    body: { content: "to the left" },
    other: { content: "to the right" },
    effect: ({ data }) =>
      data.turn?.parts.some((part: Answer["body"]) => part.type === "steer" && !part.applied) === true,
    first: 202,
    again: 202,
    same: ["turnId", "entryId", "cursor"]
  },
  {
    name: "append an entry",
    prepare: async () => {
      await session("append")
      return "append"
    },
    send: (body) => put("/sessions/append/conversation/e", body),
    body: { role: "user", content: "by the way" },
    other: { role: "assistant", content: "by the way" },
    effect: ({ type }) => type === "session.entry",
    first: 202,
    again: 202,
    same: ["entryId", "sessionId", "cursor"]
  },
  {
    name: "fork a session",
    prepare: async () => {
      const home = await session("origin")
      await put(`${home}/turns/t?waitMillis=20000`, { content: "hello" })
      return "forked"
    },
    send: (body) => post("/sessions/origin/forks/forked", body),
    body: { through: { turnId: "t" } },
    other: { turnId: "t" },
    effect: ({ type }) => type === "session.created",
    first: 201,
    again: 200,
    same: ["sessionId", "createdAt", "forkedFrom"]
  },
  {
    name: "replace a configuration",
    prepare: async () => {
      await session("configured")
      return "configured"
    },
    send: (body) => put("/sessions/configured/configuration", body),
    body: { expectedRevision: 1, systemPrompt: "be brief" },
    other: { expectedRevision: 1, systemPrompt: "be long" },
    effect: ({ type }) => type === "session.configuration",
    first: 200,
    again: 200,
    same: ["revision", "systemPrompt"]
  }
]

const shown = (mutation: Mutation, { body }: Answer) => mutation.same.map((field) => body[field])
const effects = async (mutation: Mutation, id: string) =>
  (await wholeLog(await api(), id)).filter(mutation.effect).length

const places = new Map<Mutation, { readonly id: string; readonly first: Answer }>()

for (const mutation of mutations) {
  it(`L2: to ${mutation.name}, ${AT_ONCE} times at once, has one effect, and names one result`, async () => {
    const id = await mutation.prepare()
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => mutation.send(mutation.body)))
    const statuses = answers.map(({ status }) => status).sort((a, b) => b - a)
    expect(statuses).toEqual([mutation.first, ...Array.from({ length: AT_ONCE - 1 }, () => mutation.again)])
    const [first] = answers
    if (first === undefined) throw new Error("no answer")
    for (const answer of answers) expect(shown(mutation, answer)).toEqual(shown(mutation, first))
    const dispositions = answers.flatMap(({ body }) => (body.disposition === undefined ? [] : [body.disposition]))
    if (dispositions.length > 0) {
      expect(dispositions.filter((disposition) => disposition === "deduplicated")).toHaveLength(AT_ONCE - 1)
    }
    const once = await effects(mutation, id)
    expect(once).toBe(mutation.name.includes("makes its session") ? 2 : 1)
    const other = await mutation.send(mutation.other)
    expect(other.status, JSON.stringify(other.body)).toBe(409)
    expect(other.body.code).toMatch(/^(idempotency\.mismatch|steer\.conflict|revision\.stale)$/)
    expect(await effects(mutation, id)).toBe(once)
    places.set(mutation, { id, first })
  })
}

it("L2: sent again after the end, with its keys in another order, and after a restart, each is the same", async () => {
  gate.open()
  for (const id of ["submit", "both", "steer"]) expect((await ended(`/sessions/${id}`, "t")).state).toBe("completed")
  const again = async () => {
    for (const [mutation, { first, id }] of places) {
      const before = await effects(mutation, id)
      const turned = Object.fromEntries(Object.entries(mutation.body).reverse())
      const answer = await mutation.send(turned)
      expect(answer.status, mutation.name).toBe(mutation.again)
      expect(shown(mutation, answer), mutation.name).toEqual(shown(mutation, first))
      expect(await effects(mutation, id), mutation.name).toBe(before)
      expect((await mutation.send(mutation.other)).status, mutation.name).toBe(409)
    }
  }
  expect(places.size).toBe(mutations.length)
  await again()
  await server().crash()
  await again()
  expect(requests("submit")).toHaveLength(1)
  expect(requests("both")).toHaveLength(1)
})

it("L2: a prompt with its defaults written out is the same prompt; one of another session is another", async () => {
  const said = { content: [{ type: "text", text: "submit: once" }], role: "user", whenBusy: "queue" }
  const again = await put("/sessions/submit/turns/t?waitMillis=1000", said)
  expect(again).toMatchObject({ status: 200, body: { turnId: "t", state: "completed" } })
  await session("elsewhere")
  const elsewhere = await put("/sessions/elsewhere/turns/t", { content: "hello" })
  expect(elsewhere.body.disposition).toBe("started")
})

it("L2: what was renamed, edited or deleted since is compared with what was first accepted", async () => {
  const renamed = await (await api()).send("PATCH", "/servers/default/sessions/made", { title: "renamed" })
  expect(renamed.status).toBe(200)
  expect(await put("/sessions/made", { title: "one", metadata: { b: [2], a: 1 } })).toMatchObject({
    status: 200,
    body: { title: "renamed" }
  })
  const home = await session("gone")
  const { send } = await api()
  const first = await send("DELETE", `/servers/default${home}`)
  expect(await send("DELETE", `/servers/default${home}`)).toMatchObject({ status: 200, body: first.body })
  for (const again of [await put(home, {}), await put(`${home}/turns/t`, { content: "x", session: {} })]) {
    expect(again).toMatchObject({ status: 409, body: { code: "session.deleted" } })
  }
})
