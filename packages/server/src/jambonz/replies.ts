import type { ReplyRow } from "../voice/VoiceRepo.ts"
import { takeFloor } from "./floor.ts"
import type { Reply } from "./Speaker.ts"
import type { Scene } from "./scene.ts"

/** The row a reply begins with. */
export const rowOf = (
  scene: Scene,
  { replyId, turnId, turnNumber }: Reply,
  of: { readonly input?: string; readonly firstEntry?: number }
): ReplyRow => ({
  sessionId: scene.sessionId,
  replyId,
  turnId,
  turnNumber: turnNumber ?? null,
  input: of.input ?? null,
  state: "open",
  heard: null,
  spoken: null,
  lines: [],
  delivered: 0,
  firstEntry: of.firstEntry ?? 0,
  endEntry: null
})

/** A reply to a turn the other side started: from here on it is the newest. */
export const beginReply = (scene: Scene, reply: Reply, input: string): void => {
  scene.lastTurn = reply.turnNumber ?? scene.lastTurn
  scene.lastInput = input
  scene.reply = reply
  scene.unheard = ""
  scene.fillers = 0
  scene.speaker.open(reply)
  takeFloor(scene)
  scene.timers.set("filler", scene.voice.fillerAfterMillis)
}
