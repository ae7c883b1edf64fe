import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authorization } from "../middleware/Authorization.ts"
import { NoQuery } from "../request.ts"
import { JsonObject } from "../schema/Json.ts"

const openapi = HttpApiEndpoint.get("openapi", "/openapi.json")
  .setUrlParams(NoQuery)
  .addSuccess(JsonObject)
  .annotate(OpenApi.Summary, "This API as OpenAPI 3.1, with the events of its streams")

/** What the API says of itself. */
export const SystemGroup = HttpApiGroup.make("system").add(openapi).middleware(Authorization)
