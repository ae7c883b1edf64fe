import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import {
  HARNESS_PROTOCOL_VERSION,
  HarnessApi,
  MAX_STEPS_DEFAULT,
  MAX_WIRE_BYTES,
  makeHarnessOpenApi,
  PAGE_DEFAULT,
  PAGE_MAX,
  QUEUE_MAX,
  SESSION_EVENT_HEARTBEAT_MILLIS,
  SYSTEM_PROMPT_MAX_BYTES,
  WAIT_MILLIS_MAX
} from "@harness/protocol"
import { Clock, Context, Effect, Layer } from "effect"
import { DaemonLog } from "./DaemonLog.ts"
import { prometheusText } from "./metrics.ts"
import { ServerInfo } from "./ServerInfo.ts"

/** What this host has to offer, as far as other rooms know it. */
export class Offer extends Context.Tag("@harness/server/Offer")<
  Offer,
  {
    /** Names of the tools the model is offered. */
    readonly tools: Effect.Effect<ReadonlyArray<string>>
    /** Ids of the connected providers. */
    readonly providers: Effect.Effect<ReadonlyArray<string>>
    readonly subAgents: boolean
    readonly voice: boolean
  }
>() {}

const limits = {
  maxWireBytes: MAX_WIRE_BYTES,
  systemPromptMaxBytes: SYSTEM_PROMPT_MAX_BYTES,
  waitMillisMax: WAIT_MILLIS_MAX,
  pageDefault: PAGE_DEFAULT,
  pageMax: PAGE_MAX,
  maxStepsDefault: MAX_STEPS_DEFAULT,
  queueMax: QUEUE_MAX
}

const health = HttpApiBuilder.group(HarnessApi, "health", (handlers) =>
  Effect.map(ServerInfo, (info) =>
    handlers.handle("health", () =>
      Effect.map(Clock.currentTimeMillis, (now) => ({
        status: "ok" as const,
        protocol: HARNESS_PROTOCOL_VERSION,
        release: info.release,
        uptimeMillis: Math.max(0, now - info.startedAtMillis)
      }))
    )
  )
)

const system = HttpApiBuilder.group(HarnessApi, "system", (handlers) =>
  Effect.gen(function* () {
    const document = yield* Effect.cached(Effect.sync(() => ({ ...makeHarnessOpenApi() })))
    return handlers.handle("openapi", () => document)
  })
)

const runtime = HttpApiBuilder.group(HarnessApi, "runtime", (handlers) =>
  Effect.gen(function* () {
    const info = yield* ServerInfo
    const offer = yield* Offer
    const log = yield* DaemonLog
    return handlers
      .handle("capabilities", () =>
        Effect.gen(function* () {
          return {
            protocol: HARNESS_PROTOCOL_VERSION,
            release: info.release,
            limits,
            heartbeatMillis: SESSION_EVENT_HEARTBEAT_MILLIS,
            whenBusy: ["queue", "steer", "interrupt", "reject"] as const,
            tools: yield* offer.tools,
            subAgents: offer.subAgents,
            voice: offer.voice,
            storage: "sqlite",
            providers: yield* offer.providers
          }
        })
      )
      .handle("logs", ({ urlParams }) =>
        Effect.sync(() => {
          const { logs, next } = log.read({ ...urlParams, limit: urlParams.limit ?? PAGE_DEFAULT })
          return { logs, next: next === undefined ? null : String(next) }
        })
      )
      .handle("metrics", () => prometheusText)
  })
)

/** Handlers of what the process itself answers: health, its API's description, capabilities, log, metrics. */
export const SystemHandlers = Layer.mergeAll(health, system, runtime)
