import type { Draft } from "./Draft.ts"
import type { TurnInput } from "./frames.ts"
import type { Speech } from "./phoneCall.ts"
import { cut, forget } from "./playing.ts"

const joined = (before: string, text: string) => [before, text].filter((part) => part.trim() !== "").join(" ")

/** The caller is heard to speak, over whatever is playing: this alone interrupts nothing. */
export const speaks = (draft: Draft): Speech => {
  const { lastTurn, silence, speech } = draft.call
  if (speech !== undefined && speech.held === undefined) {
    const going = { ...speech, silentUntil: undefined }
    draft.set({ speech: going })
    return going
  }
  const before = speech?.held?.type === "speech" ? speech.held.text : ""
  const begun: Speech = { turnId: lastTurn + 1, before, interrupted: false, silentUntil: undefined, held: undefined }
  draft.set({ speech: begun, silence: { ...silence, streak: 0 } })
  draft.send({ type: "speech:start", turn_id: begun.turnId })
  return begun
}

/** The caller has the floor, unless a reply that may not be interrupted is playing. */
export const interrupts = (draft: Draft): void => {
  const { playing, speech, turn } = draft.call
  if (playing?.interruptible === false) return
  const open = turn?.state === "open" ? turn : undefined
  if (playing === undefined && open === undefined) return
  if (playing !== undefined) cut(draft)
  if (playing?.kind === "reply") {
    draft.event({
      name: "user_interruption",
      ...(playing.turnId === undefined ? {} : { turn_id: playing.turnId }),
      reply_id: playing.id,
      spoken: playing.text.slice(0, playing.offset),
      unspoken: playing.text.slice(playing.offset)
    })
  }
  if (open !== undefined) cancel(draft, open.id)
  if (speech !== undefined) draft.set({ speech: { ...speech, interrupted: true } })
}

const cancel = (draft: Draft, turnId: number) => {
  const { queue, turn } = draft.call
  for (const reply of queue) if (reply.turnId === turnId) forget(draft, reply)
  draft.set({
    queue: queue.filter((reply) => reply.turnId !== turnId),
    turn: turn && { ...turn, state: "cancelled", wait: undefined }
  })
  draft.send({ type: "turn:cancel", turn_id: turnId, reason: "barge_in" })
}

/** What the recognizer makes of it so far. Words interrupt. */
export const recognized = (
  draft: Draft,
  heard: { readonly text: string; readonly final: boolean; readonly confidence?: number | undefined }
): void => {
  const { before, turnId } = speaks(draft)
  const { confidence, final } = heard
  if (heard.text.trim() !== "") interrupts(draft)
  draft.send({
    type: "transcript",
    turn_id: turnId,
    text: joined(before, heard.text),
    final,
    ...(confidence === undefined ? {} : { confidence })
  })
}

/** The caller is done. Words become a turn; an interruption without words does so after a while. */
export const stops = (
  draft: Draft,
  said: { readonly text: string; readonly language?: string | undefined; readonly confidence?: number | undefined }
) => {
  const { language, lastTurn, now, settings } = draft.call
  if (said.text.trim() === "") {
    const { speech } = draft.call
    if (speech === undefined) return
    draft.set({ speech: speech.interrupted ? { ...speech, silentUntil: now + settings.noInputMs } : undefined })
    return
  }
  interrupts(draft)
  const { playing, speech } = draft.call
  const before = speech?.held?.type === "speech" ? speech.held.text : (speech?.before ?? "")
  const input: TurnInput = {
    type: "speech",
    text: joined(before, said.text),
    ...(said.confidence === undefined ? {} : { confidence: said.confidence }),
    language: said.language ?? language
  }
  if (playing?.interruptible !== false) return startTurn(draft, input)
  const turnId = lastTurn + 1
  draft.set({ speech: { turnId, before: "", interrupted: false, silentUntil: undefined, held: input } })
}

/** The caller's turn has ended: the harness is to answer, and its wait begins. */
export const startTurn = (draft: Draft, input: TurnInput) => {
  interrupts(draft)
  const { lastTurn, now, settings, silence } = draft.call
  const id = lastTurn + 1
  const until = now + settings.firstChunkTimeoutMs * settings.speed
  draft.set({
    lastTurn: id,
    turn: { id, state: "open", wait: { stage: 1, until } },
    speech: undefined,
    silence: { ...silence, streak: 0 }
  })
  draft.send({ type: "turn:start", turn_id: id, input })
}

/** One key after the other. A key stops nothing, and counts as a sign of life. */
export const presses = (draft: Draft, digits: string, durationMs: number | undefined): void => {
  draft.set({ silence: { since: undefined, streak: 0 } })
  for (const key of digits) {
    draft.event({ name: "dtmf", digits: key, ...(durationMs === undefined ? {} : { duration_ms: durationMs }) })
  }
}
