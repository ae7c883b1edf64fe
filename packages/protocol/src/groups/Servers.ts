import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { ConflictError, NotFoundError } from "../errors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { NoQuery, query, ResumeHeaders } from "../request.ts"
import { WatchServerQuery } from "../schema/Query.ts"
import { ServerDeletedResponse } from "../schema/Session.ts"
import { serverPath } from "./paths.ts"
import { EventStream } from "./stream.ts"

const deleteServer = HttpApiEndpoint.del("deleteServer", "/servers/:server")
  .setPath(serverPath)
  .setUrlParams(NoQuery)
  .addSuccess(ServerDeletedResponse)
  .annotate(OpenApi.Summary, "Delete every session of a server and its shared credentials; files are kept")

const watchServer = HttpApiEndpoint.get("watchServer", "/servers/:server/events")
  .setPath(serverPath)
  .setUrlParams(query(WatchServerQuery))
  .setHeaders(ResumeHeaders)
  .addSuccess(EventStream)
  .annotate(OpenApi.Summary, "Watch every session of a server: replay after a cursor, then live")

/** A server as a whole. */
export const ServersGroup = HttpApiGroup.make("servers")
  .add(deleteServer)
  .add(watchServer)
  .addError(NotFoundError)
  .addError(ConflictError)
  .middleware(Authorization)
