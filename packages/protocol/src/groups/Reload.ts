import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authorization } from "../middleware/Authorization.ts"
import { NoQuery, optionalBody } from "../request.ts"
import { RuntimeReloadRequest, RuntimeReloadResponse } from "../schema/System.ts"

const reloadRuntime = HttpApiEndpoint.post("reloadRuntime", "/runtime/reload")
  .setUrlParams(NoQuery)
  .setPayload(optionalBody(RuntimeReloadRequest))
  .addSuccess(RuntimeReloadResponse)
  .annotate(OpenApi.Summary, "Read harness.json now; a file that cannot be read changes nothing")

/** What of the process changes while it runs. */
export const ReloadGroup = HttpApiGroup.make("reload").add(reloadRuntime).middleware(Authorization)
