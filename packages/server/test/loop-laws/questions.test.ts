import type { TurnSnapshot } from "@harness/protocol"
import { expect, it } from "vitest"
import { callsOf, ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"
import { messagesOf, textOf } from "../kit/stage.ts"
import { readUntil, wire } from "../kit/wire.ts"

const { act, answer, api, ended, prompt, questions, request, requests, server, session, sound, told, waits } =
  loopStage()

const option = (label: string) => ({ label, description: `what ${label} means` })
const QUESTIONS = [
  { question: "Which colour?", header: "Colour", options: [option("red"), option("blue")] },
  { question: "Which sizes?", header: "Size", options: [option("S"), option("M")], multiple: true },
  { question: "What name?", header: "Name", options: [option("Ann")], custom: true }
]
const RIGHT = [["blue"], ["S", "M"], ["Zoë 🌍"]]

const asks = (name: string) =>
  act(name, (_, step) => (step === 0 ? callsFor(["question", { questions: QUESTIONS }]) : says("thanks")))

const waiting = async (name: string) => {
  const home = await session(name)
  asks(name)
  await prompt(home, "t", `${name}: ask me`)
  const turn = await waits(home, "t")
  const [asked] = await questions(home)
  return { home, turn, asked, id: asked?.questionId ?? "" }
}

const shown = (turn: TurnSnapshot) => turn.parts.find(({ type }) => type === "question")

it("a question waits for a person, any client finds it, and the model gets the answers", async () => {
  const { asked, home, id, turn } = await waiting("answer")
  expect(asked).toMatchObject({
    sessionId: "answer",
    turnId: "t",
    callId: callsOf(turn)[0]?.callId,
    questions: QUESTIONS
  })
  expect(id).toMatch(/^que_/)
  expect(shown(turn)).toMatchObject({ type: "question", questionId: id, state: "asked" })
  const anybody = wire(await server().up())
  expect((await anybody.get(`${home}/status`)).body).toMatchObject({
    state: "waiting",
    waitingOn: [{ kind: "question", id }]
  })
  expect(await answer(home, id, RIGHT)).toMatchObject({
    status: 200,
    body: { questionId: id, outcome: "replied", answers: RIGHT }
  })
  const done = await ended(home, "t")
  expect(done).toMatchObject({ state: "completed", finalText: "thanks" })
  expect(shown(done)).toMatchObject({ state: "replied", answers: RIGHT })
  expect(ends(done)).toEqual(["completed"])
  const said = textOf(messagesOf(await request("answer", 1)).at(-1) ?? { role: "", content: "" })
  for (const word of ["Which colour?", "blue", "S, M", "Zoë 🌍"]) expect(said).toContain(word)
  expect(await told("answer", "question.asked")).toHaveLength(1)
  expect(await told("answer", "question.replied")).toMatchObject([{ questionId: id, answers: RIGHT }])
  await sound("answer")
})

it("answers that do not fit are refused and change nothing; the first that fit stand", async () => {
  const { home, id } = await waiting("fit")
  const wrong = [
    [],
    [["blue"]],
    [["green"], ["S"], ["Ann"]],
    [["red", "blue"], ["S"], ["Ann"]],
    [[], ["S"], ["Ann"]],
    [["red"], ["S", "XL"], ["Ann"]],
    [["red"], ["S"], ["Ann"], ["more"]]
  ]
  for (const answers of wrong) {
    expect(await answer(home, id, answers)).toMatchObject({ status: 400, body: { code: "request.invalid" } })
  }
  expect(await questions(home)).toHaveLength(1)
  const both = await Promise.all([
    answer(home, id, RIGHT),
    answer(home, id, [["red"], ["M"], ["Ann"]]),
    answer(home, id, RIGHT)
  ])
  const standing = both.find(({ status }) => status === 200)?.body
  for (const { body, status } of both) {
    if (status === 200) expect(body).toEqual(standing)
    else
      expect(body).toMatchObject({
        code: "question.settled",
        details: { outcome: "replied", answers: standing.answers }
      })
  }
  expect(both.some(({ status }) => status === 409)).toBe(true)
  expect((await (await api()).post(`${home}/questions/${id}/reject`)).status).toBe(409)
  expect(await ended(home, "t")).toMatchObject({ state: "completed" })
  expect(await answer(home, id, standing.answers)).toMatchObject({ status: 200, body: standing })
  expect(await told("fit", "question.replied")).toHaveLength(1)
  await sound("fit")
})

it("a question that a person rejects goes to the model as such", async () => {
  const { home, id } = await waiting("reject")
  const reject = () => api().then(({ post }) => post(`${home}/questions/${id}/reject`))
  expect(await reject()).toMatchObject({ status: 200, body: { questionId: id, outcome: "rejected" } })
  expect(await reject()).toMatchObject({ status: 200, body: { questionId: id, outcome: "rejected" } })
  expect(await answer(home, id, RIGHT)).toMatchObject({
    status: 409,
    body: { code: "question.settled", details: { outcome: "rejected" } }
  })
  const done = await ended(home, "t")
  expect(done).toMatchObject({ state: "completed", finalText: "thanks" })
  expect(shown(done)).toMatchObject({ state: "rejected" })
  expect(ends(done)).toEqual(["rejected question.rejected"])
  expect(await told("reject", "question.rejected")).toMatchObject([{ questionId: id }])
  expect(await answer(home, "que_01ARZ3NDEKTSV4RRFFQ69G5FAV", RIGHT)).toMatchObject({
    status: 404,
    body: { code: "question.not_found" }
  })
  await sound("reject")
})

it("a cancel closes the question with an event, and the next prompt is answered", async () => {
  const { home, id } = await waiting("cancel")
  expect((await (await api()).post(`${home}/cancel`)).status).toBe(202)
  expect(await questions(home)).toEqual([])
  const turn = await ended(home, "t")
  expect(turn).toMatchObject({ state: "cancelled", stopReason: "cancelled" })
  expect(shown(turn)).toMatchObject({ state: "rejected" })
  expect(await told("cancel", "question.rejected")).toMatchObject([{ questionId: id }])
  expect((await answer(home, id, RIGHT)).status).toBe(409)
  const next = await (await api()).put(`${home}/turns/next?waitMillis=20000`, { content: "next: hello" })
  expect(next.body).toMatchObject({ state: "completed", finalText: "ok" })
  expect(requests("cancel")).toHaveLength(1)
  await sound("cancel")
})

it("a session with an open question can be deleted, and its stream says so", async () => {
  const { home, id } = await waiting("delete")
  const stream = readUntil((await api()).events(`${home}/events?afterCursor=0`), () => false)
  expect((await (await api()).send("DELETE", `/servers/default${home}`)).status).toBe(200)
  const seen = await stream
  expect(seen.find(({ type }) => type === "session.turn.question.rejected")?.data).toMatchObject({ questionId: id })
  expect(seen.at(-1)?.type).toBe("session.deleted")
  expect((await answer(home, id, RIGHT)).status).toBe(404)
})

it("a question outlives the process under its id; prompts queued behind it run when it is answered", async () => {
  const { asked, home, id } = await waiting("restart")
  await prompt(home, "behind", "behind: hello")
  await server().crash()
  expect(await questions(home)).toEqual([asked])
  expect((await (await api()).get(`${home}/turns/t`)).body).toMatchObject({ state: "waiting", attempt: 1 })
  expect((await answer(home, id, RIGHT)).status).toBe(200)
  expect(await ended(home, "t")).toMatchObject({ state: "completed", finalText: "thanks" })
  expect(await ended(home, "behind")).toMatchObject({ state: "completed" })
  expect(requests("restart")).toHaveLength(2)
  await sound("restart")
})

it("a question and a call that must be asked for wait side by side, and each is answered for itself", async () => {
  const home = await session("side", { permissions: [] })
  act("side", (_, step) =>
    step === 0
      ? callsFor(
          ["question", { questions: QUESTIONS }, "c0"],
          ["shell", { command: "echo hi" }, "c1"],
          ["list", { path: "." }, "c2"]
        )
      : says("thanks")
  )
  await prompt(home, "t", "side: ask me")
  const turn = await waits(home, "t")
  expect(callsOf(turn).map(({ state }) => state)).toEqual(["waiting", "waiting", "completed"])
  const [asked] = await questions(home)
  await answer(home, asked?.questionId ?? "", RIGHT)
  const { permissions } = (await (await api()).get(`${home}/permissions`)).body
  expect((await (await api()).get(`${home}/turns/t`)).body.state).toBe("waiting")
  await (await api()).post(`${home}/permissions/${permissions[0].requestId}/reply`, { reply: "once" })
  expect(ends(await ended(home, "t"))).toEqual(["completed", "completed", "completed"])
  expect(requests("side")).toHaveLength(2)
  await sound("side")
})

it("questions that hold nothing are an error for the model, not a wait", async () => {
  const home = await session("nothing")
  act("nothing", (_, step) =>
    step === 0 ? callsFor(["question", { questions: [] }, "c0"], ["question", {}, "c1"]) : says("ok")
  )
  await prompt(home, "t", "nothing: ask me")
  expect(ends(await ended(home, "t"))).toEqual(["failed tool.arguments_invalid", "failed tool.arguments_invalid"])
})
