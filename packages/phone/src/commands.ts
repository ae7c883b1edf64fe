import type { Draft } from "./Draft.ts"
import { end } from "./ending.ts"
import type { PhoneCall } from "./phoneCall.ts"
import { cut, ownLine, play } from "./playing.ts"
import type { Command } from "./reading.ts"

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const transfer = (
  draft: Draft,
  id: string,
  to: string | undefined,
  announce: string | undefined
): string | undefined => {
  const { nextTransfer, settings, transfer: running, turn } = draft.call
  if (running !== undefined) return "a transfer is under way"
  if ((to ?? settings.transferDestination) === undefined) return "there is no destination"
  answer(draft, id)
  cut(draft)
  draft.set({
    transfer: { commandId: id, outcome: nextTransfer, until: undefined },
    nextTransfer: settings.transfer,
    turn: draft.call.turn && { ...draft.call.turn, state: turn?.state ?? "answered", wait: undefined },
    speech: undefined
  })
  if (announce !== undefined) play(draft, ownLine("announce", announce, { interruptible: false }))
  return undefined
}

/** What an action does to a recording that is in this state; undefined: nothing it could do. */
const recorded = (recording: PhoneCall["recording"], action: unknown) => {
  if (action === "start" && recording === "off") return { recording: "on", state: "started" } as const
  if (action === "stop" && recording !== "off") return { recording: "off", state: "stopped" } as const
  if (action === "pause" && recording === "on") return { recording: "paused", state: "paused" } as const
  if (action === "resume" && recording === "paused") return { recording: "on", state: "resumed" } as const
  return undefined
}

const record = (draft: Draft, id: string, action: unknown): string | undefined => {
  const next = recorded(draft.call.recording, action)
  if (next === undefined) return `cannot ${String(action)} a recording that is ${draft.call.recording}`
  draft.set({ recording: next.recording })
  answer(draft, id)
  draft.event({ name: "recording", command_id: id, state: next.state, by: "harness" })
  return undefined
}

const answer = (draft: Draft, id: string) => draft.send({ type: "command:result", command_id: id, ok: true })

/** Does it, or says why not. */
const carryOut = (draft: Draft, { args, command_id: id, name }: Command): string | undefined => {
  switch (name) {
    case "hangup":
      answer(draft, id)
      return void end(draft, "harness_hangup")
    case "transfer":
      return transfer(draft, id, text(args["to"]), text(args["announce"]))
    case "record":
      return record(draft, id, args["action"])
    case "barge_in":
      if (typeof args["enabled"] !== "boolean") return "enabled is missing"
      draft.set({ bargeIn: args["enabled"] })
      return void answer(draft, id)
    case "listen": {
      const language = text(args["language"])
      if (args["hints"] !== undefined) return "listen with hints is not supported"
      if (language === undefined) return "language is missing"
      if (!draft.call.settings.changesLanguage) return "the speech vendor cannot change its language in mid-call"
      draft.set({ language })
      return void answer(draft, id)
    }
    default:
      return name === "play" ? "play is not supported" : "there is no such command"
  }
}

/** Carries out a command; each gets one result. */
export const command = (draft: Draft, frame: Command) => {
  const { command_id: id } = frame
  const { commandIds } = draft.call
  if (commandIds.has(id)) return draft.refuse("duplicate_id", "there was a command of this id", id)
  draft.set({ commandIds: new Set(commandIds).add(id) })
  const error = carryOut(draft, frame)
  if (error !== undefined) draft.send({ type: "command:result", command_id: id, ok: false, error })
}

/** The dialling is over, one way or another. */
export const dialled = (draft: Draft) => {
  const { now, settings, transfer: done, turn } = draft.call
  if (done === undefined) return
  const { outcome, reason } = done.outcome
  draft.set({ transfer: undefined })
  draft.event({
    name: "transfer",
    command_id: done.commandId,
    outcome,
    ...(reason === undefined ? {} : { reason })
  })
  if (outcome === "bridged") return end(draft, "transferred")
  // The call is the harness's again: a turn it still owes an answer is waited for anew.
  if (turn?.state === "open") {
    draft.set({ turn: { ...turn, wait: { stage: 1, until: now + settings.firstChunkTimeoutMs * settings.speed } } })
  }
}
