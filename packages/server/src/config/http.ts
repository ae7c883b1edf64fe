import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { HarnessApi } from "@harness/protocol"
import { Effect } from "effect"
import { LiveSettings } from "./LiveSettings.ts"

/** Reads the settings again when it is asked to. */
export const ReloadHandlers = HttpApiBuilder.group(HarnessApi, "reload", (handlers) =>
  Effect.map(LiveSettings, (settings) => handlers.handle("reloadRuntime", () => settings.reload))
)
