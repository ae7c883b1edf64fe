import { SessionHistoryResponse } from "@harness/protocol"
import { answers, ensure, same, section } from "../check.ts"
import type { Harness } from "../harness.ts"

const shell = 'use shell {"command":"echo conforming"}'
const allowed = { permissions: [{ permission: "shell", pattern: "*", action: "allow" }] }

const call = async (harness: Harness, session: string, content: string, options: Record<string, unknown> = {}) => {
  const turn = await harness.finish(session, "t1", { content, options })
  const [part] = turn.parts.filter((one) => one.type === "tool")
  ensure(part !== undefined && part.type === "tool", "there is no tool part")
  return part
}

/** What tools may do: rules and policies. */
export const toolChecks = section("tools", {
  "a command that a rule allows runs, in the workdir": async (harness) => {
    const part = await call(harness, await harness.session(allowed), shell)
    same([part.state, part.result?.isError], ["completed", false], "the call")
    ensure(JSON.stringify(part.result?.content).includes("conforming"), "its output is not there")
  },
  "a command that a rule denies does not run": async (harness) => {
    const permissions = [...allowed.permissions, { permission: "shell", pattern: "echo *", action: "deny" }]
    const part = await call(harness, await harness.session({ permissions }), shell)
    same(part.result?.isError, true, "isError")
    ensure(!JSON.stringify(part.result?.content).includes("conforming\\n"), "it ran")
  },
  "every command of a line must be allowed": async (harness) => {
    const permissions = [
      { permission: "shell", pattern: "echo *", action: "allow" },
      { permission: "shell", pattern: "ls *", action: "deny" }
    ]
    for (const line of ["echo a && ls b", "echo a; ls b", "echo a | ls b", "echo $(ls b)", "echo a\\nls b"]) {
      const part = await call(harness, await harness.session({ permissions }), `use shell {"command":"${line}"}`)
      same(part.result?.isError, true, `isError of ${line}`)
    }
  },
  "a tool that the session's policy denies is an error result": async (harness) => {
    const part = await call(harness, await harness.session({ tools: { deny: ["list"] } }), 'use list {"path":"."}')
    same([part.result?.isError, part.result?.details?.["code"]], [true, "policy.denied"], "the result")
  },
  "a tool that the turn's policy denies is too": async (harness) => {
    const options = { tools: { allow: ["read"] } }
    const part = await call(harness, await harness.session(), 'use list {"path":"."}', options)
    same([part.result?.isError, part.result?.details?.["code"]], [true, "policy.denied"], "the result")
  },
  "an empty allow denies all": async (harness) => {
    const part = await call(harness, await harness.session(), 'use list {"path":"."}', { tools: { allow: [] } })
    same([part.result?.isError, part.result?.details?.["code"]], [true, "policy.denied"], "the result")
  },
  "mode plan only reads": async (harness) => {
    const part = await call(harness, await harness.session(allowed), shell, { mode: "plan" })
    same(part.result?.isError, true, "isError")
  },
  "reading outside the workdir does not happen without a yes": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: 'use read {"path":"../../../../../../etc/passwd"}' })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const settled = ["turn.approval.requested", "turn.terminal"]
    await stream.until((frame) => settled.includes(frame.event), settled.join(" or "))
    ensure(!(await harness.get(harness.t(session, "t1"))).text.includes("root:"), "it read /etc/passwd")
    await harness.post(`${harness.t(session, "t1")}/cancel`)
  },
  "arguments that do not fit the tool's schema are an error result that names the place": async (harness) => {
    const part = await call(harness, await harness.session(), 'use read {"path":5}')
    same(part.result?.isError, true, "isError")
    ensure(JSON.stringify(part.result?.content).includes("path"), "it does not name path")
  },
  "arguments that are cut off are never run": async (harness) => {
    const part = await call(harness, await harness.session(allowed), 'use shell {"command":"echo conf')
    same(part.result?.isError, true, "isError")
  },
  "two calls of one step each have a name of their own": async (harness) => {
    const session = await harness.session()
    const turn = await harness.finish(session, "t1", { content: 'use list {"path":"."}\nuse list {"path":"."}' })
    const ids = turn.parts.flatMap((part) => (part.type === "tool" ? [part.callId] : []))
    same([ids.length, new Set(ids).size], [2, 2], "calls")
    const history = answers(await harness.get(`${harness.n(session)}/history`), 200, SessionHistoryResponse)
    const results = history.entries.flatMap((entry) => entry.content).filter((part) => part.type === "result")
    same(results.length, 2, "results")
  }
})
