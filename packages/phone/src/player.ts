import type { Input } from "./floor.ts"
import { isFree, type PhoneCall } from "./phoneCall.ts"
import type { Step } from "./script.ts"
import { wordCount } from "./words.ts"

/** What has to be before the next thing is done. */
type Condition =
  | { readonly _tag: "Now" }
  | { readonly _tag: "After"; readonly ms: number }
  /** It is the caller's turn to speak. */
  | { readonly _tag: "Free" }
  | { readonly _tag: "Words"; readonly count: number }
  | { readonly _tag: "Replies"; readonly count: number }

interface Cue {
  readonly when: Condition
  readonly input?: Input
}

/** A script as far as it has been played. */
export interface Player {
  readonly cues: ReadonlyArray<Cue>
  /** Since when the next cue is waited for. */
  readonly since: number
  /** How many replies had been heard by then. */
  readonly heardThen: number
  /** How many replies a `reply` has waited for, or a caller who spoke has left behind. */
  readonly taken: number
}

/** Words a second a caller speaks at. */
const CALLER_RATE = 3

const NOW: Condition = { _tag: "Now" }

interface Spoken {
  readonly interim?: ReadonlyArray<string> | false | undefined
  readonly language?: string | undefined
  readonly confidence?: number | undefined
}

/** An utterance: what the recognizer makes of it comes as it is spoken. */
const utterance = (
  when: Condition,
  text: string,
  { confidence, interim = [], language }: Spoken
): ReadonlyArray<Cue> => {
  const sure = confidence === undefined ? {} : { confidence }
  const stops: Input = { _tag: "Stops", text, ...sure, ...(language === undefined ? {} : { language }) }
  if (interim === false) return [{ when, input: stops }]
  let before = 0
  const heard = [...interim, text].map((part, at): Cue => {
    const final = at === interim.length
    const ms = Math.max(0, ((wordCount(part) - before) * 1_000) / CALLER_RATE)
    before = Math.max(before, wordCount(part))
    const recognized: Input = { _tag: "Recognized", text: part, final, ...(final ? sure : {}) }
    return { when: { _tag: "After", ms }, input: recognized }
  })
  return [{ when, input: { _tag: "Speaks" } }, ...heard, { when: NOW, input: stops }]
}

/** A caller who speaks into a reply is heard at that very word: the first of the recognizer's words come with it. */
const intoAReply = (step: Extract<Step, { readonly do: "bargeIn" }>): ReadonlyArray<Cue> => {
  const when: Condition = { _tag: "Words", count: step.afterWords }
  const interrupts: Cue = { when, input: { _tag: "Interrupts" } }
  if (step.text === undefined) return [interrupts, { when: NOW, input: { _tag: "Stops", text: "" } }]
  if (step.interim === false) return utterance(when, step.text, step)
  const [, ...heard] = utterance(when, step.text, step)
  return [interrupts, ...heard]
}

const by = { caller: "caller_hangup", application: "application_hangup", redirect: "application_redirect" } as const

const cuesOf = (step: Step): ReadonlyArray<Cue> => {
  switch (step.do) {
    case "say":
      return utterance(step.now === true ? NOW : { _tag: "Free" }, step.text, step)
    case "bargeIn":
      return intoAReply(step)
    case "reply":
      return [{ when: { _tag: "Replies", count: step.count ?? 1 } }]
    case "words":
      return [{ when: { _tag: "Words", count: step.count } }]
    case "listen":
      return [{ when: { _tag: "Free" } }]
    case "silence":
      return [{ when: { _tag: "After", ms: step.seconds * 1_000 } }]
    case "press": {
      const held = step.durationMs === undefined ? {} : { durationMs: step.durationMs }
      return [{ when: NOW, input: { _tag: "Presses", digits: step.digits, ...held } }]
    }
    case "drop": {
      const again = step.resumeAfterMs === undefined ? "never" : { afterMs: step.resumeAfterMs }
      return [{ when: NOW, input: { _tag: "Drop", again, halfOpen: step.halfOpen ?? false } }]
    }
    case "tools":
      return [{ when: NOW, input: { _tag: "Tools", answers: step.answers } }]
    case "transfer": {
      const { do: _, ...outcome } = step
      return [{ when: NOW, input: { _tag: "NextTransfer", outcome } }]
    }
    case "update":
      return [{ when: NOW, input: { _tag: "Update", updateType: step.updateType, data: step.data ?? null } }]
    case "hangUp":
      return [{ when: NOW, input: { _tag: "HangsUp", reason: by[step.by ?? "caller"] } }]
  }
}

/** Replies that were heard to their end. */
const repliesHeard = (call: PhoneCall) => call.heard.filter(({ cut, kind }) => kind === "reply" && !cut).length

/** A script with nothing in it. */
export const idle: Player = { cues: [], since: 0, heardThen: 0, taken: 0 }

/** With further steps after those there are. */
export const withSteps = (player: Player, call: PhoneCall, steps: ReadonlyArray<Step>): Player => ({
  ...player,
  ...(player.cues.length === 0 ? { since: call.now, heardThen: repliesHeard(call) } : {}),
  cues: [...player.cues, ...steps.flatMap(cuesOf)]
})

const isMet = ({ since, taken }: Player, when: Condition, call: PhoneCall): boolean => {
  switch (when._tag) {
    case "Now":
      return true
    case "After":
      return call.now >= since + when.ms
    case "Free":
      return isFree(call) && call.held === undefined && call.connection._tag === "Up"
    case "Words":
      if (call.playing?.kind === "reply") return call.playing.words >= when.count
      return when.count === 0 && call.turn?.state === "open"
    case "Replies":
      return repliesHeard(call) - taken >= when.count
  }
}

/** What the script does next; or until when it waits, when only time has to pass; or why it never will. */
export type Act =
  | { readonly _tag: "Act"; readonly player: Player; readonly input: Input | undefined }
  | {
      readonly _tag: "Wait"
      readonly until: number | undefined
      readonly since: number
      readonly on: Condition["_tag"]
    }
  | { readonly _tag: "Missed"; readonly message: string }
  | { readonly _tag: "Played" }

/** Looks at the call, and says what comes of the script. */
export const act = (player: Player, call: PhoneCall): Act => {
  const [cue, ...cues] = player.cues
  if (cue === undefined) return { _tag: "Played" }
  const { when } = cue
  if (!isMet(player, when, call)) {
    if (when._tag === "Words" && isFree(call) && repliesHeard(call) > player.heardThen) {
      return { _tag: "Missed", message: `no word ${when.count} was heard: the reply was over` }
    }
    const until = when._tag === "After" ? player.since + when.ms : undefined
    return { _tag: "Wait", until, since: player.since, on: when._tag }
  }
  const heard = repliesHeard(call)
  const speaks = cue.input?._tag === "Stops" || cue.input?._tag === "Interrupts"
  const taken = when._tag === "Replies" ? player.taken + when.count : speaks ? heard : player.taken
  return { _tag: "Act", player: { cues, since: call.now, heardThen: heard, taken }, input: cue.input }
}
