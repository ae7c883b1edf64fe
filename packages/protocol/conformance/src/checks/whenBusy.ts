import {
  CancelTurnResponse,
  SessionHistoryResponse,
  SessionQueueResponse,
  SteerTurnReceipt,
  SubmitPromptReceipt,
  TurnResponse
} from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"
import type { Harness } from "../harness.ts"

const queueOf = async (harness: Harness, session: string) => {
  const answer = await harness.get(`${harness.n(session)}/queue`)
  return answers(answer, 200, SessionQueueResponse).queue.map((turn) => String(turn.turnId))
}

const turn = async (harness: Harness, session: string, turnId: string) =>
  answers(await harness.get(harness.t(session, turnId)), 200, TurnResponse)

const cancel = (harness: Harness, session: string, turnId: string) =>
  harness.post(`${harness.t(session, turnId)}/cancel`)

/** §3: prompts to a session that already works. */
export const whenBusyChecks = section("a busy session", {
  "queue: prompts wait, in order of acceptance": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    const first = await harness.submit(session, "q1", { content: "one" })
    same([first.disposition, first.position, first.activeTurnId], ["queued", 1, busy], "first receipt")
    const second = await harness.submit(session, "q2", { content: "two", whenBusy: "queue" })
    same([second.disposition, second.position], ["queued", 2], "second receipt")
    same(await queueOf(harness, session), ["q1", "q2"], "queue")
    await cancel(harness, session, busy)
    const [one, two] = [await harness.ended(session, "q1"), await harness.ended(session, "q2")]
    same([one.finalText, two.finalText], ["one", "two"], "answers")
    ensure((one.settledAt ?? "") <= (two.startedAt ?? ""), "the second started before the first ended")
  },
  "reject: refused as turn.busy, and never runs": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    const answer = await harness.put(harness.t(session, "r1"), { content: "no", whenBusy: "reject" })
    refuses(answer, 409, "ConflictError", "turn.busy")
    refuses(await harness.get(harness.t(session, "r1")), 404, "NotFoundError", "turn.not_found")
    await cancel(harness, session, busy)
  },
  "reject: an idle session takes it": async (harness) => {
    const receipt = await harness.submit(await harness.session(), "r1", { content: "yes", whenBusy: "reject" })
    same(receipt.disposition, "started", "disposition")
  },
  "interrupt: the running turn ends as interrupted, and the prompt runs next": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    await harness.submit(session, "q1", { content: "later" })
    await harness.submit(session, "i1", { content: "now", whenBusy: "interrupt" })
    const now = await harness.ended(session, "i1")
    const stopped = await turn(harness, session, busy)
    same([stopped.state, stopped.stopReason], ["cancelled", "interrupted"], "the interrupted turn")
    same(now.finalText, "now", "the interrupting turn")
    const later = await harness.ended(session, "q1")
    ensure((now.settledAt ?? "") <= (later.startedAt ?? ""), "the queued turn ran first")
    ensure((stopped.settledAt ?? "") <= (now.startedAt ?? ""), "it started before the other had ended")
  },
  "steer: the prompt joins the running turn": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: "wait 1500 first" })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    await stream.until((frame) => frame.event === "turn.started", "turn.started")
    const receipt = await harness.submit(session, "s1", { content: "in French", whenBusy: "steer" })
    same([receipt.disposition, receipt.activeTurnId], ["steered", "t1"], "receipt")
    const ended = await harness.ended(session, "t1")
    const steers = ended.parts.filter((part) => part.type === "steer")
    same(
      steers.map((part) => part.type === "steer" && [part.content, part.applied]),
      [[[{ type: "text", text: "in French" }], true]],
      "steers"
    )
    ensure(ended.steps.length >= 2, "no step came after the steer")
  },
  "steer: the steered id is an alias of the turn it joined": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: "wait 1500" })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    await stream.until((frame) => frame.event === "turn.started", "turn.started")
    const answer = await harness.put(harness.t(session, "s1"), { content: "more", whenBusy: "steer" })
    same(answers(answer, 202, SubmitPromptReceipt).disposition, "steered", "disposition")
    same((await turn(harness, session, "s1")).turnId, "t1", "what GET of the alias answers")
    const waited = await harness.finish(session, "s1", { content: "more", whenBusy: "steer" })
    same([waited.turnId, waited.state], ["t1", "completed"], "what waiting for the alias answers")
    const events = await harness.watch(`${harness.t(session, "s1")}/events`)
    const frames = await events.toEnd()
    same(frames.at(-1)?.data["turnId"], "t1", "whose stream the alias's is")
  },
  "steer: with nothing running it starts a turn": async (harness) => {
    const session = await harness.session()
    same(
      (await harness.submit(session, "s1", { content: "hello", whenBusy: "steer" })).disposition,
      "started",
      "disposition"
    )
    same((await harness.ended(session, "s1")).finalText, "hello", "finalText")
  },
  "steering exactly one turn is taken before its next step": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: "wait 1500" })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    await stream.until((frame) => frame.event === "turn.started", "turn.started")
    const path = `${harness.t(session, "t1")}/steer/e1`
    const first = answers(await harness.post(path, { content: "and this" }), 202, SteerTurnReceipt)
    same([first.entryId, first.turnId, first.disposition], ["e1", "t1", "accepted"], "receipt")
    const again = answers(await harness.post(path, { content: "and this" }), 202, SteerTurnReceipt)
    same(again.disposition, "deduplicated", "disposition")
    refuses(await harness.post(path, { content: "another" }), 409, "SteerConflictError", "steer.conflict")
    await harness.ended(session, "t1")
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    same(entries.filter((entry) => entry.entryId === "e1").length, 1, "how often it is in the history")
  },
  "a turn that has ended takes no steer": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const answer = await harness.post(`${harness.t(session, "t1")}/steer/e1`, { content: "late" })
    refuses(answer, 409, "TurnNotActiveError", "turn.not_active")
  },
  "a turn that is not there takes no steer": async (harness) => {
    const answer = await harness.post(`${harness.t(await harness.session(), "nobody")}/steer/e1`, { content: "x" })
    refuses(answer, 404, "NotFoundError", "turn.not_found")
  },
  "a queued turn can be edited": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    await harness.submit(session, "q1", { content: "before" })
    const edited = await harness.send("PATCH", `${harness.n(session)}/queue/q1`, { json: { content: "after" } })
    same(answers(edited, 200, TurnResponse).prompt.content, [{ type: "text", text: "after" }], "prompt")
    await cancel(harness, session, busy)
    same((await harness.ended(session, "q1")).finalText, "after", "finalText")
  },
  "a queued turn can be withdrawn, again and again": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    await harness.submit(session, "q1", { content: "one" })
    answers(await harness.send("DELETE", `${harness.n(session)}/queue/q1`), 200, CancelTurnResponse)
    same(await queueOf(harness, session), [], "queue")
    const withdrawn = await turn(harness, session, "q1")
    same([withdrawn.state, withdrawn.stopReason], ["cancelled", "cancelled"], "the withdrawn turn")
    await cancel(harness, session, busy)
  },
  "a running turn is in no queue": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    const path = `${harness.n(session)}/queue/${busy}`
    refuses(await harness.send("PATCH", path, { json: { content: "x" } }), 409, "ConflictError", "turn.not_queued")
    refuses(await harness.send("DELETE", path), 409, "ConflictError", "turn.not_queued")
    await cancel(harness, session, busy)
  },
  "interrupt: an idle session takes it": async (harness) => {
    const receipt = await harness.submit(await harness.session(), "i1", { content: "hello", whenBusy: "interrupt" })
    same(receipt.disposition, "started", "disposition")
  },
  "prompts accepted at once run one at a time, in the order of their cursors": async (harness) => {
    const session = await harness.session()
    const names = Array.from({ length: 6 }, (_, index) => `p${index}`)
    const receipts = await Promise.all(
      names.map((name) => harness.submit(session, name, { content: `wait 50 ${name}` }))
    )
    const order = receipts.toSorted((a, b) => a.cursor - b.cursor).map((receipt) => String(receipt.turnId))
    const turns = await Promise.all(order.map((name) => harness.ended(session, name)))
    for (const [index, one] of turns.entries()) {
      same(one.finalText, order[index], `finalText of ${order[index]}`)
      const before = turns[index - 1]
      ensure(
        before === undefined || (before.settledAt ?? "") <= (one.startedAt ?? ""),
        `${order[index]} started too early`
      )
    }
  },
  "steer: a prompt that nobody took becomes a queued turn of its own name": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    same(
      (await harness.submit(session, "s1", { content: "own", whenBusy: "steer" })).disposition,
      "steered",
      "disposition"
    )
    await cancel(harness, session, busy)
    await harness.ended(session, busy)
    const own = await harness.finish(session, "s1", { content: "own", whenBusy: "steer" })
    same([own.turnId, own.state, own.finalText], ["s1", "completed", "own"], "the turn")
  },
  "steer: cancelling the alias withdraws what nobody has taken": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    await harness.submit(session, "s1", { content: "never mind", whenBusy: "steer" })
    same((await cancel(harness, session, "s1")).status, 202, "status")
    const still = await turn(harness, session, busy)
    same(still.state, "running", "the turn it had joined")
    await cancel(harness, session, busy)
    await harness.ended(session, busy)
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    ensure(!JSON.stringify(entries).includes("never mind"), "it is in the history")
  },
  "a steer that nobody took ends with its turn": async (harness) => {
    const session = await harness.session()
    const busy = await harness.busy(session)
    answers(await harness.post(`${harness.t(session, busy)}/steer/e1`, { content: "too late" }), 202, SteerTurnReceipt)
    await cancel(harness, session, busy)
    const ended = await harness.ended(session, busy)
    const [steer] = ended.parts.filter((part) => part.type === "steer")
    same(steer?.type === "steer" && [steer.entryId, steer.applied], ["e1", false], "the steer")
  }
})
