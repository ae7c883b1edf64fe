import {
  DaemonLogQuery,
  type DaemonLogQueryValue,
  PageQuery,
  type PageQueryValue,
  RuntimeReloadRequest
} from "@harness/protocol"
import { Effect, Schema } from "effect"
import type { Api, Call } from "./api.ts"
import { parted, partedOptional, type ServerAt, type SessionAt, serverPath, sessionPath } from "./input.ts"

const urlParams = {}
const at = parted(serverPath, Schema.Struct({}))
const logs = parted(Schema.Struct({}), DaemonLogQuery)
const reload = partedOptional(Schema.Struct({}), RuntimeReloadRequest)
const page = parted(sessionPath, PageQuery)

/** The host itself. */
export const system = (api: Api, call: Call) => ({
  /** Whether it is there; needs no token. */
  health: Effect.suspend(() => call("system.health", api.health().health({ urlParams }))),
  /** What it supports. */
  capabilities: Effect.suspend(() => call("system.capabilities", api.runtime().capabilities({ urlParams }))),
  /** Its API as OpenAPI. */
  openapi: Effect.suspend(() => call("system.openapi", api.system().openapi({ urlParams }))),
  /** One page of its log; `level` is the least that is shown. */
  logs: (input: DaemonLogQueryValue = {}) =>
    Effect.flatMap(logs(input), ({ rest }) => call("system.logs", api.runtime().logs({ urlParams: rest }))),
  /** Its numbers, in Prometheus' text format. */
  metrics: Effect.suspend(() => call("system.metrics", api.runtime().metrics({ urlParams })))
})

/** Servers as a whole. */
export const servers = (api: Api, call: Call) => ({
  /** Deletes every session of a server and its shared credentials. */
  delete: (input: ServerAt) =>
    Effect.flatMap(at(input), ({ path }) => call("servers.delete", api.servers().deleteServer({ path, urlParams })))
})

/** What of the process changes while it runs. */
export const runtime = (api: Api, call: Call) => ({
  /** Reads `harness.json` now; what cannot be read is in `failures`, and changes nothing. */
  reload: (input: typeof RuntimeReloadRequest.Encoded = {}) =>
    Effect.flatMap(reload(input), ({ rest }) =>
      call("runtime.reload", api.reload().reloadRuntime({ urlParams, payload: rest }))
    )
})

/** Who can work in a session. */
export const agents = (api: Api, call: Call) => ({
  /** One page of the agents a session can be given, by name, and the files that could not be read. */
  list: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(page(input), ({ path, rest }) =>
      call("agents.list", api.agents().listAgents({ path, urlParams: rest }))
    )
})
