import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authorization } from "../middleware/Authorization.ts"
import { NoQuery, query } from "../request.ts"
import { CapabilitiesResponse, DaemonLogQuery, DaemonLogResponse } from "../schema/System.ts"

const capabilities = HttpApiEndpoint.get("capabilities", "/capabilities")
  .setUrlParams(NoQuery)
  .addSuccess(CapabilitiesResponse)
  .annotate(OpenApi.Summary, "What this host supports")

const logs = HttpApiEndpoint.get("logs", "/logs")
  .setUrlParams(query(DaemonLogQuery))
  .addSuccess(DaemonLogResponse)
  .annotate(OpenApi.Summary, "The daemon's log, oldest first, secrets taken out")

const metrics = HttpApiEndpoint.get("metrics", "/metrics")
  .setUrlParams(NoQuery)
  .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; version=0.0.4; charset=utf-8" }))
  .annotate(OpenApi.Summary, "Numbers in Prometheus' text format")

/** The process that serves. */
export const RuntimeGroup = HttpApiGroup.make("runtime")
  .add(capabilities)
  .add(logs)
  .add(metrics)
  .middleware(Authorization)
