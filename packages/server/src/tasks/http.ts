import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { HarnessApi } from "@harness/protocol"
import { Effect } from "effect"
import { onSession } from "../servers/on.ts"
import { Tasks } from "./Tasks.ts"

/** Lets go of the sub-agents a session waits for. */
export const BackgroundHandlers = HttpApiBuilder.group(HarnessApi, "background", (handlers) =>
  handlers.handle("backgroundSession", ({ path }) =>
    onSession(
      path,
      Effect.flatMap(Tasks, (room) => room.background(path.sessionId))
    )
  )
)
