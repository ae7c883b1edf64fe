import { openCall } from "@harness/phone/LiveCall"
import type { Report } from "@harness/phone/report"
import { callSettings } from "@harness/phone/settings"
import { Effect } from "effect"
import type { Plan } from "./callScript.ts"
import type { Harness } from "./harness.ts"
import { wire } from "./wire.ts"

/** A call that was made, and when its end was on its way, by the clock on the wall. */
export interface Made {
  readonly report: Report
  readonly overAt: number
}

/** Makes a planned call, from its beginning to its end. A step that came too late is left out. */
export const makeCall = (server: Harness, callSid: string, { acts, agent, inMidst, settings }: Plan): Promise<Made> => {
  const api = wire(server)
  const url = `${server.url.replace("http", "ws")}/v1/servers/default/jambonz?agent=${agent}`
  const prompted = (content: string, at: number) =>
    Effect.promise(() =>
      api.put(`/sessions/call-${callSid}/turns/prompt-${at}`, {
        content,
        whenBusy: at % 2 === 0 ? "queue" : "interrupt"
      })
    )
  const whole = Effect.gen(function* () {
    const startedAt = Date.now()
    const call = yield* openCall({ url, settings: callSettings({ ...settings, callSid }) })
    yield* Effect.ignore(call.until(({ call: { lastTurn } }) => (lastTurn > 0 ? true : undefined)))
    const isConnected = call.until(({ call: { connection } }) => (connection._tag === "Up" ? true : undefined))
    for (const [at, act] of acts.entries()) {
      yield* Effect.ignore(isConnected)
      yield* "prompt" in act ? prompted(act.prompt, at) : Effect.ignore(call.play(act.steps))
    }
    if (!inMidst) yield* Effect.ignore(call.play([{ do: "listen" }]))
    yield* call.input({ _tag: "HangsUp", reason: "caller_hangup" })
    const report = yield* call.report
    return { report, overAt: startedAt + report.durationMs / (settings.speed ?? 1) }
  })
  return Effect.runPromise(Effect.scoped(whole))
}
