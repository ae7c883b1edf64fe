import * as HttpRouter from "@effect/platform/HttpRouter"
import { Authorization, type RequestActor, UnauthorizedError } from "@harness/protocol"
import { Context, Effect, Layer } from "effect"

export { allows, reachOf, scopeOf } from "./scopes.ts"

/** What the edge let in: who, and for which route. */
export interface Admission {
  readonly actor: RequestActor
  /** The route whose scope and server were checked; undefined beside the API. */
  readonly template: string | undefined
}

/** The admission of the request at hand. Absent when it came another way than through the edge. */
export class Admitted extends Context.Tag("@harness/server/Admitted")<Admitted, Admission>() {}

const missing = new UnauthorizedError({ code: "auth.missing", message: "a token is needed" })

const admitted = Effect.flatMap(Effect.context<HttpRouter.RouteContext>(), (context) => {
  const admission = Context.getOption(context, Admitted)
  if (admission._tag === "None") return Effect.fail(missing)
  const { actor, template } = admission.value
  const { route } = Context.get(context, HttpRouter.RouteContext)
  // Were the edge and the router ever to read a path differently, nothing may run under the wrong check.
  return template === route.path
    ? Effect.succeed(actor)
    : Effect.dieMessage(`judged as ${template}, routed as ${route.path}`)
})

/** Hands the handlers the actor the edge let in (it decides 401 and 403 before 404 and 405). */
export const AuthorizationLayer = Layer.succeed(Authorization, { bearer: () => admitted })
