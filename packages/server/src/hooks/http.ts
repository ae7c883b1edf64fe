import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { HarnessApi, PAGE_DEFAULT } from "@harness/protocol"
import { Effect } from "effect"
import { onNewServer, onServer } from "../servers/on.ts"
import { HookAdmin } from "./HookAdmin.ts"

/** Handlers of hooks: they translate, and decide nothing. */
export const HooksHandlers = HttpApiBuilder.group(HarnessApi, "hooks", (handlers) =>
  handlers
    .handle("listHooks", ({ path, urlParams }) =>
      onServer(
        path.server,
        Effect.flatMap(HookAdmin, (room) => room.list(urlParams.after ?? "", urlParams.limit ?? PAGE_DEFAULT)),
        { hooks: [], next: null }
      )
    )
    .handle("putHook", ({ path, payload }) =>
      onNewServer(
        path.server,
        Effect.flatMap(HookAdmin, (room) => room.put(path.hookId, payload))
      )
    )
    .handle("deleteHook", ({ path }) =>
      onServer(
        path.server,
        Effect.flatMap(HookAdmin, (room) => room.remove(path.hookId)),
        { hookId: path.hookId, removed: false }
      )
    )
)
