import type { Inbound } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { callOffReply } from "./callOff.ts"
import { recording } from "./commands.ts"
import { dropped, interrupted, spoken } from "./hearing.ts"
import { keyPressed } from "./keys.ts"
import { heardOut, transferred } from "./parting.ts"
import { refused } from "./refused.ts"
import { overlooked, type Scene, type Work } from "./scene.ts"
import { silent } from "./silence.ts"
import { update } from "./updates.ts"

/** What is done about each event of the protocol. */
export const onEvent = (scene: Scene, frame: Extract<Inbound, { readonly type: "event" }>): Work => {
  if ("fields" in frame) return overlooked(scene, "an event of no known name")
  switch (frame.name) {
    case "user_interruption":
      return Effect.zipRight(callOffReply(scene, frame.reply_id), interrupted(scene, frame))
    case "reply_spoken": {
      const reply = scene.speaker.byId(frame.reply_id)
      return Effect.zipRight(spoken(scene, frame), heardOut(scene, reply?.turnId))
    }
    case "reply_dropped":
      return dropped(scene, frame)
    case "application_update":
      return update(scene, frame)
    case "silence":
      return silent(scene, frame)
    case "dtmf":
      return keyPressed(scene, frame)
    case "transfer":
      return transferred(scene, frame)
    case "recording":
      return recording(scene, frame)
    case "error":
      return refused(scene, frame)
  }
}
