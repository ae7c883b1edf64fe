import { DaemonLogQuery, type DaemonLogQueryValue } from "@harness/protocol"
import { Effect, Schema } from "effect"
import type { Api, Call } from "./api.ts"
import { parted, type ServerAt, serverPath } from "./input.ts"

const urlParams = {}
const at = parted(serverPath, Schema.Struct({}))
const logs = parted(Schema.Struct({}), DaemonLogQuery)

/** The host itself. */
export const system = ({ health, runtime, system }: Api, call: Call) => ({
  /** Whether it is there; needs no token. */
  health: call("system.health", health.health({ urlParams })),
  /** What it supports. */
  capabilities: call("system.capabilities", runtime.capabilities({ urlParams })),
  /** Its API as OpenAPI. */
  openapi: call("system.openapi", system.openapi({ urlParams })),
  /** One page of its log; `level` is the least that is shown. */
  logs: (input: DaemonLogQueryValue = {}) =>
    Effect.flatMap(logs(input), ({ rest }) => call("system.logs", runtime.logs({ urlParams: rest }))),
  /** Its numbers, in Prometheus' text format. */
  metrics: call("system.metrics", runtime.metrics({ urlParams }))
})

/** Servers as a whole. */
export const servers = ({ servers }: Api, call: Call) => ({
  /** Deletes every session of a server and its shared credentials. */
  delete: (input: ServerAt) =>
    Effect.flatMap(at(input), ({ path }) => call("servers.delete", servers.deleteServer({ path, urlParams })))
})
