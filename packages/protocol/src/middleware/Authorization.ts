import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import { Context, Schema } from "effect"
import { ForbiddenError, UnauthorizedError } from "../errors.ts"
import type { ServerName } from "../ids.ts"

/** What a token allows: `read` looks, `write` changes, `approve` answers asks, `admin` does the rest. */
export const Scope = Schema.Literal("read", "write", "approve", "admin").annotations({ identifier: "Scope" })
export type Scope = typeof Scope.Type

/** Who a request comes from, and what they may do. No `servers`: every server. */
export interface RequestActor {
  readonly actorId: string
  readonly clientId?: string
  readonly scopes: ReadonlyArray<Scope>
  readonly servers?: ReadonlyArray<ServerName>
}

/** The actor of the request at hand. */
export class CurrentActor extends Context.Tag("@harness/protocol/CurrentActor")<CurrentActor, RequestActor>() {}

/** `Authorization: Bearer <token>`: no or unknown token 401, a known one that may not do this 403. */
export class Authorization extends HttpApiMiddleware.Tag<Authorization>()("@harness/protocol/Authorization", {
  failure: Schema.Union(UnauthorizedError, ForbiddenError),
  provides: CurrentActor,
  security: {
    bearer: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "A token of this server; it belongs to an actor and has scopes.")
    )
  }
}) {}
