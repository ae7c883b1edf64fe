import { AppendConversationReceiptResponse, SessionHistoryResponse, SessionTurnsResponse } from "@harness/protocol"
import { answers, ensure, same, section } from "../check.ts"

/** §2: entries that no turn made. */
export const conversationChecks = section("conversation", {
  "an entry is appended without running a turn": async (harness) => {
    const session = await harness.session()
    const path = `${harness.n(session)}/conversation/e1`
    const receipt = answers(
      await harness.put(path, { role: "user", content: "noted" }),
      202,
      AppendConversationReceiptResponse
    )
    same([receipt.entryId, receipt.sessionId, receipt.disposition], ["e1", session, "accepted"], "receipt")
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    same(
      entries.map((entry) => [entry.entryId, entry.role]),
      [["e1", "user"]],
      "entries"
    )
    const { turns } = answers(await harness.get(`${harness.n(session)}/turns`), 200, SessionTurnsResponse)
    same(turns, [], "turns")
  },
  "entries and turns are in one order": async (harness) => {
    const session = await harness.session()
    const append = (id: string, body: unknown) => harness.put(`${harness.n(session)}/conversation/${id}`, body)
    await append("e1", { role: "user", content: "before" })
    await harness.finish(session, "t1", { content: "hello" })
    await append("e2", { role: "assistant", content: "after" })
    await append("e3", { role: "custom", content: "kept", custom: { type: "note", details: { x: 1 } } })
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    same(
      entries.map((entry) => entry.role),
      ["user", "user", "assistant", "assistant", "custom"],
      "roles"
    )
    same(entries.at(-1)?.custom, { type: "note", details: { x: 1 } }, "custom")
  },
  "an entry given while a turn runs comes behind it": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: "wait 800" })
    await harness.put(`${harness.n(session)}/conversation/e1`, { role: "user", content: "behind" })
    await harness.ended(session, "t1")
    const { entries } = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    same(entries.at(-1)?.entryId, "e1", "the last entry")
    ensure(entries.length === 3, `there are ${entries.length} entries`)
  },
  "an entry is announced on the session's stream": async (harness) => {
    const session = await harness.session()
    const stream = await harness.watch(`${harness.n(session)}/events`)
    await stream.next()
    await harness.put(`${harness.n(session)}/conversation/e1`, { role: "user", content: "noted" })
    const frame = await stream.until((one) => one.event === "session.entry", "session.entry")
    ensure(JSON.stringify(frame.data).includes('"e1"'), "it names another entry")
  }
})
