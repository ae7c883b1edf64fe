import { TURN_RECORD_MAX } from "@harness/protocol/jambonz"
import type { Draft } from "./Draft.ts"
import type { Reply } from "./phoneCall.ts"
import { goOn } from "./playing.ts"
import { contentOf, type ReplyChunk, type ReplyDone } from "./reading.ts"

type Frame = ReplyChunk | ReplyDone

const late = (draft: Draft, frame: Frame, why: string) => draft.happen({ _tag: "Dropped", why, ref: frame.reply_id })

/** Where the reply of a frame stands: under way, about to begin, or not to be heard of. */
const admitted = (draft: Draft, frame: Frame): "known" | "new" | undefined => {
  const { lastTurn, replies, turn } = draft.call
  const { reply_id, turn_id } = frame
  const known = replies.get(reply_id)
  if (known === "gone") return void late(draft, frame, "its reply is over")
  if (known === "closed") return void draft.refuse("invalid_id", "the reply ended with its connection", reply_id)
  if (known === "done") return void draft.refuse("duplicate_id", "the reply was done", reply_id)
  if (known === "open") {
    if (findReply(draft, reply_id)?.turnId === turn_id) return "known"
    return void draft.refuse("invalid_id", "the reply began for another turn", reply_id)
  }
  if (turn_id === undefined) return "new"
  if (turn_id > lastTurn || turn_id < 1) {
    return void draft.refuse("turn_not_started", `turn ${turn_id} has not started`, reply_id)
  }
  if (turn_id < lastTurn || turn?.state === "cancelled") return void late(draft, frame, "its turn is over")
  return "new"
}

const findReply = ({ call: { held, playing, queue } }: Draft, id: string): Reply | undefined =>
  [playing, ...queue, held].find((reply) => reply?.kind === "reply" && reply.id === id)

const begin = (draft: Draft, frame: Frame) => {
  const { bargeIn, held, queue, replies, turn } = draft.call
  const { reply_id: id, turn_id: turnId } = frame
  const first = frame.type === "reply:chunk" ? frame : undefined
  const reply: Reply = {
    kind: "reply",
    id,
    turnId,
    text: "",
    offset: 0,
    words: 0,
    done: false,
    interruptible: bargeIn && first?.interruptible !== false,
    urgent: turnId === undefined && first?.interrupt === true
  }
  draft.set({ replies: new Map(replies).set(id, "open") })
  if (turnId !== undefined) {
    draft.set({ queue: [...queue, reply], turn: turn && { ...turn, wait: undefined } })
    return
  }
  if (held !== undefined) {
    draft.set({ replies: new Map(draft.call.replies).set(held.id, "gone") })
    draft.event({ name: "reply_dropped", reply_id: held.id, reason: "replaced" })
  }
  draft.set({ held: reply })
}

const change = (draft: Draft, id: string, by: (reply: Reply) => Partial<Reply>) => {
  const changed = <R extends Reply>(reply: R): R => (reply.id === id ? { ...reply, ...by(reply) } : reply)
  const { held, playing, queue } = draft.call
  draft.set({ playing: playing && changed(playing), queue: queue.map(changed), held: held && changed(held) })
  goOn(draft)
}

/** Some more to say. */
export const replyChunk = (draft: Draft, frame: ReplyChunk) => {
  const standing = admitted(draft, frame)
  if (standing === undefined) return
  if (standing === "new") begin(draft, frame)
  change(draft, frame.reply_id, ({ text }) => ({ text: text + contentOf(frame) }))
}

const bytesOf = (value: unknown) => (value === undefined ? 0 : new TextEncoder().encode(JSON.stringify(value)).length)

/** Nothing more to say. With a record that is too large it is as if it had not come. */
export const replyDone = (draft: Draft, frame: ReplyDone) => {
  if (bytesOf(frame.turn_record) > TURN_RECORD_MAX) {
    return draft.refuse("turn_record_too_large", `a turn record has at most ${TURN_RECORD_MAX} bytes`, frame.reply_id)
  }
  const standing = admitted(draft, frame)
  if (standing === undefined) return
  if (standing === "new") begin(draft, frame)
  draft.set({ replies: new Map(draft.call.replies).set(frame.reply_id, "done") })
  change(draft, frame.reply_id, () => ({ done: true }))
}
