import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { NoQuery } from "../request.ts"
import { HealthResponse } from "../schema/System.ts"

const health = HttpApiEndpoint.get("health", "/health")
  .setUrlParams(NoQuery)
  .addSuccess(HealthResponse)
  .annotate(OpenApi.Summary, "Whether the server is there; needs no token")

/** The one route without a token. */
export const HealthGroup = HttpApiGroup.make("health").add(health)
