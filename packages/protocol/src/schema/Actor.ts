import { Schema } from "effect"

/** Who did it: the token's actor, and the client it said it was (no credential). */
export const Actor = Schema.Struct({
  actorId: Schema.String,
  clientId: Schema.optional(Schema.String)
}).annotations({ identifier: "Actor" })
export type Actor = typeof Actor.Type
