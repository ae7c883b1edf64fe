import {
  SessionHistoryResponse,
  SessionResponse,
  SessionStatusResponse,
  SubmitPromptReceipt,
  TurnResponse,
  TurnWaitTimedOutResponse
} from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"

/** §3: submitting a prompt to the demo model. */
export const submitChecks = section("submitting", {
  "a prompt is accepted with a receipt": async (harness) => {
    const session = await harness.session()
    const receipt = await harness.submit(session, "t1", { content: "hello" })
    same([receipt.turnId, receipt.sessionId, receipt.disposition], ["t1", session, "started"], "receipt")
    ensure(receipt.cursor > 1, `cursor ${receipt.cursor}`)
  },
  "an accepted turn is there at once": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: "hello" })
    const turn = answers(await harness.get(harness.t(session, "t1")), 200, TurnResponse)
    same(turn.prompt, { role: "user", content: [{ type: "text", text: "hello" }] }, "prompt")
  },
  "waitMillis answers the turn when it has ended": async (harness) => {
    const session = await harness.session()
    const turn = await harness.finish(session, "t1", { content: "hello" })
    same([turn.state, turn.stopReason, turn.finalText], ["completed", "end", "hello"], "the turn")
    ensure(turn.settledAt !== undefined && turn.startedAt !== undefined, "no startedAt or settledAt")
    same(turn, answers(await harness.get(harness.t(session, "t1")), 200, TurnResponse), "what GET says")
  },
  "waitMillis answers the live turn when it has not": async (harness) => {
    const session = await harness.session()
    const answer = await harness.put(`${harness.t(session, "t1")}?waitMillis=50`, { content: "wait 60000" })
    const turn = answers(answer, 202, TurnWaitTimedOutResponse)
    same([turn.turnId, turn.timedOut], ["t1", true], "the live turn")
    await harness.post(`${harness.t(session, "t1")}/cancel`)
  },
  "waitMillis is at most 600000": async (harness) => {
    const path = harness.t(await harness.session(), "t1")
    for (const wait of ["600001", "-1", "1s"]) {
      refuses(
        await harness.put(`${path}?waitMillis=${wait}`, { content: "hi" }),
        400,
        "ValidationError",
        "request.invalid"
      )
    }
    refuses(await harness.get(path), 404, "NotFoundError", "turn.not_found")
  },
  "parts have ids and are in order": async (harness) => {
    const turn = await harness.finish(await harness.session(), "t1", { content: "think hello" })
    same(
      turn.parts.map((part) => part.type),
      ["reasoning", "text"],
      "parts"
    )
    same(new Set(turn.parts.map((part) => part.partId)).size, 2, "part ids")
    for (const part of turn.parts) if ("done" in part) same(part.done, true, `done of ${part.partId}`)
  },
  "a step says who answered and what it took": async (harness) => {
    const turn = await harness.finish(await harness.session(), "t1", { content: "hello" })
    const [step] = turn.steps
    same([turn.steps.length, step?.step, step?.provider, step?.finishReason], [1, 1, "demo", "stop"], "steps")
  },
  "a tool is called, and its result is told to the model": async (harness) => {
    const turn = await harness.finish(await harness.session(), "t1", { content: 'use list {"path":"."}' })
    const [part] = turn.parts.filter((one) => one.type === "tool")
    ensure(part !== undefined && part.type === "tool", "there is no tool part")
    same([part.name, part.state, part.result?.isError], ["list", "completed", false], "the call")
    ensure(turn.steps.length >= 2, "no step came after the call")
    same(turn.state, "completed", "state")
  },
  "a tool that is not there is an error result with a code": async (harness) => {
    const turn = await harness.finish(await harness.session(), "t1", { content: "use no_such_tool {}" })
    const [part] = turn.parts.filter((one) => one.type === "tool")
    ensure(part !== undefined && part.type === "tool", "there is no tool part")
    same(part.result?.isError, true, "isError")
    ensure(typeof part.result?.details?.["code"] === "string", "no details.code")
  },
  "a model that fails is a failed turn that says why": async (harness) => {
    const turn = await harness.finish(await harness.session(), "t1", { content: "fail" })
    same([turn.state, turn.stopReason], ["failed", "error"], "the turn")
    ensure(turn.failure !== undefined && turn.failure.message !== "", "no failure")
  },
  "a session works on after a failed turn": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "fail" })
    same((await harness.finish(session, "t2", { content: "hello" })).finalText, "hello", "the next turn")
  },
  "maxSteps ends a turn as max_steps": async (harness) => {
    const body = { content: 'use list {"path":"."}', options: { maxSteps: 1 } }
    const turn = await harness.finish(await harness.session(), "t1", body)
    same([turn.state, turn.stopReason, turn.steps.length], ["completed", "max_steps", 1], "the turn")
    ensure(
      turn.parts.some((part) => part.type === "notice"),
      "there is no notice"
    )
  },
  "a turn's text grows word by word and ends whole": async (harness) => {
    const turn = await harness.finish(await harness.session(), "t1", { content: "write 50 words" })
    same(turn.finalText, Array.from({ length: 50 }, (_, index) => `w${index + 1}`).join(" "), "finalText")
  },
  "history has the prompt and the answer": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    same(
      entries.map((entry) => [entry.role, entry.turnId]),
      [
        ["user", "t1"],
        ["assistant", "t1"]
      ],
      "entries"
    )
  },
  "each call in the history is followed by its one result": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: 'use list {"path":"."}\nuse no_such_tool {}' })
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    const parts = entries.flatMap((entry) => entry.content)
    const calls = parts.flatMap((part) => (part.type === "call" ? [part.callId] : []))
    const results = parts.flatMap((part) => (part.type === "result" ? [part.callId] : []))
    same([...results].sort(), [...calls].sort(), "results")
    same(calls.length, 2, "calls")
  },
  "status counts turns and names the last": async (harness) => {
    const session = await harness.session()
    await harness.finish(session, "t1", { content: "hello" })
    const status = answers(await harness.get(`${harness.n(session)}/status`), 200, SessionStatusResponse)
    same([status.state, status.lastTurnId, status.turnCount], ["idle", "t1", 1], "status")
  },
  "a running turn shows in status and session": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    const status = answers(await harness.get(`${harness.n(session)}/status`), 200, SessionStatusResponse)
    same([status.state, status.activeTurnId], ["running", turnId], "status")
    same(answers(await harness.get(harness.n(session)), 200, SessionResponse).state, "running", "session")
    await harness.post(`${harness.t(session, turnId)}/cancel`)
  },
  "pictures and files are prompts too": async (harness) => {
    const content = [
      { type: "text" as const, text: "look" },
      { type: "image" as const, mime: "image/png", data: "iVBORw0KGgo=" },
      { type: "file" as const, mime: "text/plain", name: "a.txt", data: "YQ==" }
    ]
    const turn = await harness.finish(await harness.session(), "t1", { content })
    same(turn.prompt.content, content, "prompt")
  },
  "what only a model says is no prompt": async (harness) => {
    const path = harness.t(await harness.session(), "t1")
    for (const part of [
      { type: "reasoning", text: "x" },
      { type: "call", callId: "x", name: "y", arguments: {} }
    ]) {
      refuses(await harness.put(path, { content: [part] }), 400, "ValidationError", "request.invalid")
    }
  },
  "the client going away never cancels": async (harness) => {
    const session = await harness.session()
    const path = `${harness.target.baseUrl}${harness.t(session, "t1")}?waitMillis=10000`
    const gone = new AbortController()
    const request = fetch(path, {
      method: "PUT",
      signal: gone.signal,
      headers: { authorization: `Bearer ${harness.target.token}`, "content-type": "application/json" },
      body: JSON.stringify({ content: "wait 500" })
    }).catch(() => undefined)
    const stream = await harness.watch(`${harness.n(session)}/events?afterCursor=1`)
    await stream.until((frame) => frame.event === "session.turn.started", "the turn's start")
    gone.abort()
    await request
    same((await harness.ended(session, "t1")).state, "completed", "state")
  },
  "a prompt that names no model asks the session's": async (harness) => {
    const turn = await harness.finish(await harness.session(), "t1", { content: "hello" })
    same(turn.model, "demo/demo", "model")
  },
  "a receipt's cursor lies on the session's log": async (harness) => {
    const session = await harness.session()
    const answer = await harness.put(harness.t(session, "t1"), { content: "hello" })
    const { cursor } = answers(answer, 202, SubmitPromptReceipt)
    const head = answers(await harness.get(harness.n(session)), 200, SessionResponse).cursor
    ensure(cursor <= head, `cursor ${cursor} is beyond the head ${head}`)
  }
})
