import { Effect, Layer } from "effect"
import type { Agents } from "../agents/Agents.ts"
import type { Compactions } from "../compaction/Compactions.ts"
import { Runner } from "../engine/Engine.ts"
import type { HistoryRepo } from "../history/HistoryRepo.ts"
import type { Hooks } from "../hooks/Hooks.ts"
import type { Hub } from "../log/Hub.ts"
import type { Models } from "../models/Models.ts"
import type { PermissionsRepo } from "../permissions/PermissionsRepo.ts"
import type { SessionsRepo } from "../sessions/SessionsRepo.ts"
import type { Home } from "../storage/Home.ts"
import type { Tasks } from "../tasks/Tasks.ts"
import type { Tools } from "../tools/Tools.ts"
import { compactionKey } from "../turns/Bell.ts"
import type { Progress } from "../turns/Progress.ts"
import type { TurnsRepo } from "../turns/TurnsRepo.ts"
import type { SpendingRepo } from "../usage/SpendingRepo.ts"
import type { Arrivals } from "../voice/Arrivals.ts"
import type { VoiceRepo } from "../voice/VoiceRepo.ts"
import type { Beside } from "./Beside.ts"
import { compactBetween } from "./compact.ts"
import type { Detached } from "./Detached.ts"
import type { Drafts } from "./Drafts.ts"
import { runTurn } from "./runTurn.ts"

type Needs =
  | Agents
  | Beside
  | Compactions
  | Arrivals
  | Detached
  | Drafts
  | HistoryRepo
  | Home
  | Hooks
  | Hub
  | Models
  | PermissionsRepo
  | Progress
  | SessionsRepo
  | SpendingRepo
  | Tasks
  | Tools
  | TurnsRepo
  | VoiceRepo

/** The loop as the engine's runner. */
export const RunnerLayer = Layer.effect(
  Runner,
  Effect.map(Effect.context<Needs>(), (context) => ({
    run: (held, stopped) => Effect.provide(runTurn(held, stopped), context),
    between: (sessionId, watch) =>
      Effect.provide(
        compactBetween(sessionId, (compactionId) => watch(compactionKey(compactionId))),
        context
      )
  }))
)
