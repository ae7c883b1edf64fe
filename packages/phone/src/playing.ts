import type { Draft } from "./Draft.ts"
import { heardOf, type Reply } from "./phoneCall.ts"
import { wordAt } from "./words.ts"

/** A line of jambonz's own. */
export const ownLine = (
  kind: "holding" | "announce" | "failure",
  text: string,
  of: { readonly turnId?: number; readonly interruptible: boolean }
): Reply => ({
  kind,
  id: kind,
  turnId: of.turnId,
  text,
  offset: 0,
  words: 0,
  done: true,
  interruptible: of.interruptible,
  urgent: false
})

/** What was heard of the reply that plays is settled, and nothing plays. */
const stop = (draft: Draft, cut: boolean) => {
  const { playing, queue, turn } = draft.call
  if (playing === undefined) return
  const heard = heardOf(playing, playing.since, cut)
  draft.set({ playing: undefined, ...(heard.text === "" ? {} : { heard: [...draft.call.heard, heard] }) })
  draft.happen({ _tag: "Finished", heard })
  // A turn is answered when its last reply is over.
  if (playing.kind !== "reply" || turn?.state !== "open" || turn.id !== playing.turnId) return
  if (!queue.some(({ turnId }) => turnId === turn.id)) draft.set({ turn: { ...turn, state: "answered" } })
}

/** From now on what comes for this reply is dropped. */
export const forget = (draft: Draft, reply: Reply): void => {
  if (reply.kind === "reply") draft.set({ replies: new Map(draft.call.replies).set(reply.id, "gone") })
}

/** Stops what is playing, in the middle of it. */
export const cut = (draft: Draft): void => {
  const { playing } = draft.call
  if (playing === undefined) return
  stop(draft, true)
  forget(draft, playing)
}

/** Speaks a reply from its beginning. */
export const play = (draft: Draft, reply: Reply): void => {
  draft.set({ playing: { ...reply, since: draft.at, wordUntil: undefined } })
  draft.happen({ _tag: "Began", reply })
  goOn(draft)
}

/** Begins the next word, waits for more text, or is done. */
export const goOn = (draft: Draft): void => {
  const { playing, settings } = draft.call
  if (playing === undefined || playing.wordUntil !== undefined) return
  if (wordAt(playing.text, playing.offset, playing.done) !== undefined) {
    draft.set({ playing: { ...playing, wordUntil: draft.at + 1_000 / settings.rate } })
    return
  }
  if (!playing.done) return
  // The space at its end was no word, and is heard with the rest.
  if (playing.words > 0) draft.set({ playing: { ...playing, offset: playing.text.length } })
  stop(draft, false)
  if (playing.kind === "reply" && playing.words > 0) draft.event({ name: "reply_spoken", reply_id: playing.id })
}

/** The word that was being spoken has been heard. */
export const wordHeard = (draft: Draft): void => {
  const { playing } = draft.call
  if (playing === undefined) return
  const word = wordAt(playing.text, playing.offset, playing.done) ?? ""
  const heard = { ...playing, offset: playing.offset + word.length, words: playing.words + 1, wordUntil: undefined }
  draft.set({ playing: heard })
  draft.happen({ _tag: "Word", reply: heard, word })
  goOn(draft)
}
