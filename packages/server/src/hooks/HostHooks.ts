import { Context, Effect, Layer, Redacted } from "effect"
import { LiveSettings } from "../config/LiveSettings.ts"
import { withDefaults } from "./defaults.ts"
import type { HookRow } from "./HooksRepo.ts"

/** The hooks every server of this process asks, as they are now: those of `harness.json`. None unless provided. */
export class HostHooks extends Context.Reference<HostHooks>()("@harness/server/HostHooks", {
  defaultValue: (): Effect.Effect<ReadonlyArray<HookRow>> => Effect.succeed([])
}) {}

/** Those of the settings. */
export const HostHooksLayer = Layer.effect(
  HostHooks,
  Effect.map(LiveSettings, ({ current }) =>
    Effect.map(current, ({ hooks }) =>
      hooks.map(({ secret, ...hook }) => withDefaults({ ...hook, secret: Redacted.value(secret) }))
    )
  )
)
