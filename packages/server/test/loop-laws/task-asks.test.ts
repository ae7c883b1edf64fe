import { expect, it } from "vitest"
import { count, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"

const { act, answer, api, asksSession, ended, prompt, ran, reply, request, server, sound, waits } = loopStage()

const QUESTION = { questions: [{ question: "Which?", header: "Which", options: [{ label: "A", description: "a" }] }] }
const childrenOf = async (home: string) => (await (await api()).get(`${home}/children`)).body.children

/** Root, child and grandchild; the two below each ask for a permission and a question. */
const tree = async (name: string) => {
  const home = await asksSession(name)
  act(name, (_, step) => (step === 0 ? callsFor(["task", { prompt: `${name}-kid: go` }]) : says("root done")))
  act(`${name}-kid`, (_, step) =>
    step === 0
      ? callsFor(
          ["shell", { command: count("kid") }, "c0"],
          ["question", QUESTION, "c1"],
          ["task", { prompt: `${name}-leaf: go` }, "c2"]
        )
      : says("kid done")
  )
  act(`${name}-leaf`, (_, step) =>
    step === 0 ? callsFor(["shell", { command: count("leaf") }, "c0"], ["question", QUESTION, "c1"]) : says("leaf done")
  )
  await prompt(home, "t", `${name}: go`)
  const waiting = async (session: string) => {
    const [turn] = (await (await api()).get(`${session}/turns`)).body.turns
    await waits(session, turn.turnId)
  }
  const down = async (above: string) => {
    await waiting(above)
    const [{ sessionId }] = await childrenOf(above)
    return `/sessions/${sessionId}`
  }
  const kid = await down(home)
  const leaf = await down(kid)
  await waiting(leaf)
  const below = async (session: string) => ({
    permissions: (await (await api()).get(`${session}/descendants/permissions`)).body.permissions,
    questions: (await (await api()).get(`${session}/descendants/questions`)).body.questions
  })
  return { home, kid, leaf, below }
}
const idOf = (home: string) => home.split("/").at(-1)
const sessionsOf = (asks: ReadonlyArray<{ sessionId: string }>) => asks.map(({ sessionId }) => sessionId).toSorted()

it("who watches only the root sees what is asked below, near and far, and answers it there", async () => {
  const { below, home, kid, leaf } = await tree("watch")
  const both = [idOf(kid), idOf(leaf)].toSorted()
  const { permissions, questions } = await below(home)
  expect(sessionsOf(permissions)).toEqual(both)
  expect(sessionsOf(questions)).toEqual(both)
  expect(sessionsOf((await below(kid)).permissions)).toEqual([idOf(leaf)])
  expect(await below(leaf)).toEqual({ permissions: [], questions: [] })
  // The root's own lists hold the root's own.
  expect((await (await api()).get(`${home}/permissions`)).body.permissions).toEqual([])
  const page = (await (await api()).get(`${home}/descendants/permissions?limit=1`)).body
  const rest = (await (await api()).get(`${home}/descendants/permissions?limit=1&after=${page.next}`)).body
  expect([...page.permissions, ...rest.permissions]).toEqual(permissions)
  await server().crash()
  expect(await below(home)).toEqual({ permissions, questions })
  for (const { requestId, sessionId } of permissions) {
    expect((await reply(`/sessions/${sessionId}`, requestId, "once")).status).toBe(200)
  }
  for (const { questionId, sessionId } of questions) {
    expect((await answer(`/sessions/${sessionId}`, questionId, [["A"]])).status).toBe(200)
  }
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "completed", finalText: "root done", attempt: 1 })
  expect(ends(turn)).toEqual(["completed"])
  expect([...ran("watch")].toSorted()).toEqual(["kid", "leaf"])
  expect(await below(home)).toEqual({ permissions: [], questions: [] })
  for (const name of ["watch", idOf(kid), idOf(leaf)]) await sound(name ?? "")
})

it("a no below gives every call above its result", async () => {
  const { below, home, kid, leaf } = await tree("refuse")
  const { permissions, questions } = await below(home)
  for (const { requestId, sessionId } of permissions) await reply(`/sessions/${sessionId}`, requestId, "reject", "no")
  for (const { questionId, sessionId } of questions) {
    await (await api()).post(`/sessions/${sessionId}/questions/${questionId}/reject`)
  }
  expect(await ended(home, "t")).toMatchObject({ state: "completed" })
  const [turn] = (await (await api()).get(`${kid}/turns`)).body.turns
  expect(ends(turn)).toEqual(["rejected permission.rejected", "rejected question.rejected", "completed"])
  expect(textOf(messagesOf(await request("refuse", 1)).at(-1) ?? { role: "", content: "" })).toBe("kid done")
  expect(ran("refuse")).toEqual([])
  for (const name of ["refuse", idOf(kid), idOf(leaf)]) await sound(name ?? "")
})

it("a cancel of the root, and a delete, close what is asked below", async () => {
  for (const how of ["cancel", "delete"] as const) {
    const { below, home, kid, leaf } = await tree(`close-${how}`)
    if (how === "cancel") {
      expect((await (await api()).post(`${home}/cancel`)).status).toBe(202)
      expect(await ended(home, "t")).toMatchObject({ state: "cancelled" })
      expect(await below(home)).toEqual({ permissions: [], questions: [] })
      for (const session of [kid, leaf]) {
        const [turn] = (await (await api()).get(`${session}/turns`)).body.turns
        expect(await ended(session, turn.turnId)).toMatchObject({ state: "cancelled", stopReason: "cancelled" })
        expect((await (await api()).get(`${session}/permissions`)).body.permissions).toEqual([])
        expect((await (await api()).get(`${session}/questions`)).body.questions).toEqual([])
      }
      for (const name of [`close-${how}`, idOf(kid), idOf(leaf)]) await sound(name ?? "")
    } else {
      expect((await (await api()).send("DELETE", `/servers/default${home}`)).status).toBe(200)
      for (const session of [home, kid, leaf]) {
        expect((await (await api()).get(session)).status).toBe(404)
        expect((await (await api()).get(`${session}/permissions`)).status).toBe(404)
      }
    }
    expect(ran(`close-${how}`)).toEqual([])
  }
})
