import { Effect, Layer } from "effect"
import { Runner } from "../engine/Engine.ts"
import type { HistoryRepo } from "../history/HistoryRepo.ts"
import type { Hub } from "../log/Hub.ts"
import type { Models } from "../models/Models.ts"
import type { SessionsRepo } from "../sessions/SessionsRepo.ts"
import type { Home } from "../storage/Home.ts"
import type { Tools } from "../tools/Tools.ts"
import type { Progress } from "../turns/Progress.ts"
import { runTurn } from "./runTurn.ts"

type Needs = HistoryRepo | Hub | Models | SessionsRepo | Home | Tools | Progress

/** The loop as the engine's runner. */
export const RunnerLayer = Layer.effect(
  Runner,
  Effect.map(Effect.context<Needs>(), (context) => ({
    run: (held, stopped) => Effect.provide(runTurn(held, stopped), context)
  }))
)
