import {
  ServerDeletedResponse,
  SessionHistoryResponse,
  SessionListResponse,
  SessionQueueResponse,
  SessionTurnsResponse
} from "@harness/protocol"
import { answers, ensure, refuses, same, section } from "../check.ts"
import type { Harness } from "../harness.ts"

const sibling = (harness: Harness) => `/v1/servers/${harness.fresh("empty").toLowerCase()}`

const ids = async (harness: Harness, query: string) => {
  const page = answers(await harness.get(`${harness.s}/sessions${query}`), 200, SessionListResponse)
  return { ids: page.sessions.map((session) => String(session.sessionId)), next: page.next }
}

/** Every session's id, page by page. */
const walk = async (harness: Harness, limit: number) => {
  const all: Array<string> = []
  let after = ""
  for (;;) {
    const page = await ids(harness, `?limit=${limit}${after}`)
    ensure(page.ids.length <= limit, `a page of ${page.ids.length} rows, limit ${limit}`)
    all.push(...page.ids)
    if (page.next === null) return all
    after = `&after=${encodeURIComponent(page.next)}`
  }
}

/** §2: lists and their pages. */
export const listChecks = section("lists", {
  "a server nobody has used has an empty list, and can be deleted": async (harness) => {
    const s = sibling(harness)
    same(
      answers(await harness.get(`${s}/sessions`), 200, SessionListResponse),
      { sessions: [], next: null },
      "the list"
    )
    answers(await harness.send("DELETE", s), 200, ServerDeletedResponse)
  },
  "sessions are listed oldest first, each once, whatever the page": async (harness) => {
    const made = [await harness.session(), await harness.session(), await harness.session()]
    for (const limit of [1, 2, 500]) {
      const all = await walk(harness, limit)
      same(
        all.filter((id) => made.includes(id)),
        made,
        `order with limit ${limit}`
      )
      same(all.length, new Set(all).size, `rows with limit ${limit}`)
    }
  },
  "a page goes on after the last id too": async (harness) => {
    const [first, second] = [await harness.session(), await harness.session()]
    const page = await ids(harness, `?after=${first}`)
    ensure(page.ids[0] === second, `after ${first} comes ${page.ids[0]}, not ${second}`)
  },
  "a deleted id keeps its place in a list": async (harness) => {
    const [first, second] = [await harness.session(), await harness.session()]
    await harness.send("DELETE", harness.n(first))
    same((await ids(harness, `?after=${first}&limit=1`)).ids, [second], "the page after a deleted session")
  },
  "a deleted session is listed no more": async (harness) => {
    const session = await harness.session()
    await harness.send("DELETE", harness.n(session))
    ensure(!(await walk(harness, 500)).includes(session), "it is")
  },
  "sessions are filtered by state": async (harness) => {
    const [idle, working] = [await harness.session(), await harness.session()]
    const turnId = await harness.busy(working)
    const running = await ids(harness, "?state=running&limit=500")
    ensure(running.ids.includes(working) && !running.ids.includes(idle), "state=running shows the wrong ones")
    const resting = await ids(harness, "?state=idle&limit=500")
    ensure(!resting.ids.includes(working), "state=idle shows a running one")
    await harness.post(`${harness.t(working, turnId)}/cancel`)
  },
  "sessions are filtered by parent": async (harness) => {
    const session = await harness.session()
    same((await ids(harness, `?parent=${session}`)).ids, [], "children of a session that spawned none")
  },
  "turns are listed oldest first, after or before one": async (harness) => {
    const session = await harness.session()
    for (const turnId of ["t1", "t2", "t3"]) await harness.finish(session, turnId, { content: turnId })
    const turns = async (query: string) =>
      answers(await harness.get(`${harness.n(session)}/turns${query}`), 200, SessionTurnsResponse)
    const idsOf = async (query: string) => (await turns(query)).turns.map((turn) => String(turn.turnId))
    same(await idsOf(""), ["t1", "t2", "t3"], "all")
    same(await idsOf("?after=t1"), ["t2", "t3"], "after t1")
    same(await idsOf("?before=t3"), ["t1", "t2"], "before t3")
    same(await idsOf("?before=t3&limit=1"), ["t2"], "the one before t3")
    const first = await turns("?limit=2")
    same(first.turns.length, 2, "limit=2")
    ensure(first.next !== null, "there is more, and next is null")
    same(await idsOf(`?limit=2&after=${encodeURIComponent(first.next)}`), ["t3"], "the next page")
  },
  "after and before together are refused": async (harness) => {
    const session = await harness.session()
    const answer = await harness.get(`${harness.n(session)}/turns?after=a&before=b`)
    refuses(answer, 400, "ValidationError", "request.invalid")
  },
  "the queue of an idle session is empty": async (harness) => {
    const answer = await harness.get(`${harness.n(await harness.session())}/queue`)
    same(answers(answer, 200, SessionQueueResponse), { queue: [], next: null }, "the queue")
  },
  "a history is a list, with pages": async (harness) => {
    const session = await harness.session()
    const names = ["e1", "e2", "e3", "e4", "e5"]
    for (const name of names)
      await harness.put(`${harness.n(session)}/conversation/${name}`, { role: "user", content: name })
    const seen: Array<string> = []
    let after = ""
    for (;;) {
      const answer = await harness.get(`${harness.n(session)}/history?limit=2${after}`)
      const page = answers(answer, 200, SessionHistoryResponse)
      ensure(page.entries.length <= 2, `a page of ${page.entries.length}`)
      seen.push(...page.entries.map((entry) => String(entry.entryId)))
      if (page.next === null) break
      after = `&after=${encodeURIComponent(page.next)}`
    }
    same(seen, names, "entries")
  },
  "a page of the queue goes on after the last": async (harness) => {
    const session = await harness.session()
    const turnId = await harness.busy(session)
    for (const name of ["q1", "q2", "q3"]) await harness.submit(session, name, { content: name })
    const page = async (query: string) =>
      answers(await harness.get(`${harness.n(session)}/queue${query}`), 200, SessionQueueResponse)
    const first = await page("?limit=2")
    same(
      first.queue.map((turn) => [turn.turnId, turn.position]),
      [
        ["q1", 1],
        ["q2", 2]
      ],
      "the first page"
    )
    ensure(first.next !== null, "there is more, and next is null")
    const second = await page(`?limit=2&after=${encodeURIComponent(first.next)}`)
    same(
      second.queue.map((turn) => [turn.turnId, turn.position]),
      [["q3", 3]],
      "the second page"
    )
    await harness.post(`${harness.t(session, turnId)}/cancel`)
  }
})
