import type { ServerName } from "@harness/protocol"
import { APP_SUBPROTOCOL, agentVerb, harnessUrl, SUBPROTOCOL } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { isHere, urlOf } from "../connect.ts"
import { misused } from "../failures.ts"
import { answer } from "../render/answer.ts"
import { entriesText, type JambonzEntries, warningsText } from "../render/jambonz.ts"
import { Surroundings } from "../Surroundings.ts"

/** The variable a server finds its jambonz secret in, the more special one first. */
const variablesOf = (server: string): ReadonlyArray<string> => [
  `HARNESS_JAMBONZ_SECRET_${server.toUpperCase().replaceAll("-", "_")}`,
  "HARNESS_JAMBONZ_SECRET"
]

const secretIn = (env: Readonly<Record<string, string | undefined>>, server: string) => {
  for (const variable of variablesOf(server)) {
    const value = env[variable]
    if (value !== undefined && value !== "") return { variable, value }
  }
  return undefined
}

/** What to enter in the account's Harness credential, and how calls get there. */
export const jambonz = (options: {
  readonly url: string | undefined
  readonly server: ServerName
  readonly agent: string | undefined
  readonly base: string | undefined
  readonly showSecret: boolean
  readonly json: boolean
}): Running =>
  Effect.gen(function* () {
    const { agent, json, server, showSecret } = options
    const { env, err } = yield* Surroundings
    const base = options.base ?? (yield* urlOf(options.url))
    if (!URL.canParse(base))
      return yield* misused("the server's address must be one that begins with http:// or https://")
    const secret = secretIn(env, server)
    const url = harnessUrl({ base, server, agent })
    const at = (hook: string, asked = "") => {
      const there = new URL(`${harnessUrl({ base, server })}/${hook}${asked}`)
      there.protocol = there.protocol === "wss:" ? "https:" : "http:"
      return there.href
    }
    const application = at("app", agent === undefined ? "" : `?agent=${encodeURIComponent(agent)}`)
    const entries: JambonzEntries = {
      url,
      subprotocol: SUBPROTOCOL,
      secret:
        secret === undefined ? null : { variable: secret.variable, ...(showSecret ? { value: secret.value } : {}) },
      application: {
        webhook: application,
        socket: application.replace(/^http/, "ws"),
        subprotocol: APP_SUBPROTOCOL
      },
      verb: agentVerb({
        metadata: agent === undefined ? {} : { agent },
        toolHook: at("tool"),
        eventHook: at("event"),
        actionHook: at("done")
      })
    }
    yield* answer(json, entries, (style) => entriesText(entries, style))
    if (!json)
      yield* err.write(warningsText({ base, isHere: isHere(base), hasSecret: secret !== undefined }, err.style))
  })
