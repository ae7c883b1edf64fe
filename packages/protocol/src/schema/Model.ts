import { Schema } from "effect"
import { ProviderId } from "../ids.ts"
import { ModelName } from "./Session.ts"
import { ThinkingLevel } from "./Submit.ts"

/** A model that can be named in a prompt. What nobody knows of it is absent. */
export const Model = Schema.Struct({
  /** `provider/model`, as a prompt names it. */
  model: ModelName,
  providerId: ProviderId,
  name: Schema.String,
  contextTokens: Schema.optional(Schema.NonNegativeInt),
  maxOutputTokens: Schema.optional(Schema.NonNegativeInt),
  images: Schema.optional(Schema.Boolean),
  thinking: Schema.optional(Schema.Array(ThinkingLevel))
}).annotations({ identifier: "Model" })
export type Model = typeof Model.Type

/** The models known now; `revision` grows with each change. */
export const ModelsResponse = Schema.Struct({
  revision: Schema.NonNegativeInt,
  models: Schema.Array(Model),
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "ModelsResponse" })
export type ModelsResponseValue = typeof ModelsResponse.Type

/** Sent once by `…/models/events`, which then ends: a client compares, and fetches when it is another. */
export const ModelRevisionEvent = Schema.Struct({
  type: Schema.Literal("models.revision"),
  revision: Schema.NonNegativeInt
}).annotations({ identifier: "ModelRevisionEvent" })
export type ModelRevisionEventValue = typeof ModelRevisionEvent.Type
