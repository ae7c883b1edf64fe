import { Context, Effect } from "effect"
import type { HarnessJsonLimitsValue } from "./HarnessJson.ts"

/** What turns may use, as it is now: read before each step. None unless provided. */
export class Limits extends Context.Reference<Limits>()("@harness/server/Limits", {
  defaultValue: (): Effect.Effect<HarnessJsonLimitsValue> => Effect.succeed({})
}) {}
