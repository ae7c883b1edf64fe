import { Authorization, CurrentActor, type RequestActor, UnauthorizedError } from "@harness/protocol"
import { Context, Effect, Layer, Option } from "effect"

/** The actor the edge recognised. Absent when a request came another way than through the edge. */
export class Admitted extends Context.Tag("@harness/server/Admitted")<Admitted, RequestActor>() {}

const admitted = Effect.flatMap(
  Effect.context<never>(),
  (context): Effect.Effect<RequestActor, UnauthorizedError> =>
    Option.match(Context.getOption(context, Admitted), {
      onNone: () => Effect.fail(new UnauthorizedError({ code: "auth.missing", message: "a token is needed" })),
      onSome: Effect.succeed
    })
)

/** Hands the handlers the actor the edge let in (it decides 401 and 403 before 404 and 405). */
export const AuthorizationLayer = Layer.succeed(Authorization, { bearer: () => admitted })

export { CurrentActor }
