import { CancelTurnResponse, TurnResponse } from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"

/** §2 and §3: stopping. */
export const cancelChecks = section("cancelling", {
  "a running turn is stopped, and ends as cancelled": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const answer = await harness.post(`${harness.t(session, turnId)}/cancel`, { reason: "enough" })
    const stopping = answers(answer, 202, CancelTurnResponse)
    same([stopping.stopping, stopping.turnId], [true, turnId], "answer")
    const turn = await harness.ended(session, turnId)
    same([turn.state, turn.stopReason], ["cancelled", "cancelled"], "the turn")
  },
  "cancelling again, also when it has ended, is no error": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const path = `${harness.t(session, turnId)}/cancel`
    await Promise.all([harness.post(path), harness.post(path)])
    await harness.ended(session, turnId)
    same(answers(await harness.post(path), 202, CancelTurnResponse).stopping, false, "stopping")
  },
  "a completed turn stays completed": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    await harness.post(`${harness.t(session, "t1")}/cancel`)
    same(answers(await harness.get(harness.t(session, "t1")), 200, TurnResponse).state, "completed", "state")
  },
  "a session's cancel stops what it runs": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const answer = answers(await harness.post(`${harness.n(session)}/cancel`), 202, CancelTurnResponse)
    same([answer.stopping, answer.turnId], [true, turnId], "answer")
    same((await harness.ended(session, turnId)).state, "cancelled", "state")
  },
  "an idle session has nothing to stop": async (harness) => {
    const answer = answers(await harness.post(`${harness.n(await harness.session())}/cancel`), 202, CancelTurnResponse)
    same(answer, { stopping: false }, "answer")
  },
  "the next prompt is answered": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    await harness.post(`${harness.t(session, turnId)}/cancel`)
    same((await harness.finish(session, "next", { content: "hello" })).finalText, "hello", "finalText")
  },
  "who waits for a turn learns that it was cancelled": async (harness) => {
    const session = await harness.session()
    const waiting = harness.finish(session, "t1", { content: "wait 60000" })
    const stream = await harness.watch(`${harness.n(session)}/events?afterCursor=1`)
    await stream.until((frame) => frame.event === "session.turn.started", "the turn's start")
    await harness.post(`${harness.t(session, "t1")}/cancel`)
    same((await waiting).state, "cancelled", "state")
  },
  "a turn that is not there is a 404": async (harness) => {
    const session = await harness.session()
    refuses(await harness.post(`${harness.t(session, "nobody")}/cancel`), 404, "NotFoundError", "turn.not_found")
    refuses(await harness.get(harness.t(session, "nobody")), 404, "NotFoundError", "turn.not_found")
  },
  "every call of a cancelled turn is closed": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    await harness.post(`${harness.t(session, turnId)}/cancel`)
    const turn = await harness.ended(session, turnId)
    const open = turn.parts.filter(
      (part) => part.type === "tool" && ["requested", "waiting", "running"].includes(part.state)
    )
    ensure(open.length === 0, "some call is still open")
  }
})
