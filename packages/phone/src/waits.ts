import { startTurn } from "./caller.ts"
import { dialled } from "./commands.ts"
import { reopens, stayedAway } from "./connection.ts"
import type { Draft } from "./Draft.ts"
import { fail } from "./ending.ts"
import type { PhoneCall } from "./phoneCall.ts"
import { ownLine, wordHeard } from "./playing.ts"
import { toolAnswered } from "./tools.ts"

/** Something a call waits for, when it comes, and what it does. */
interface Wait {
  readonly at: number
  readonly happens: (draft: Draft) => void
}

const firstChunkIsLate = (draft: Draft) => {
  const { now, queue, settings, tools, turn } = draft.call
  if (turn?.wait === undefined) return
  if (turn.wait.stage === 1) {
    const until = now + settings.firstChunkTimeoutMs * settings.speed
    const { holdingPhrase } = settings
    const line = holdingPhrase && ownLine("holding", holdingPhrase, { turnId: turn.id, interruptible: true })
    draft.set({ turn: { ...turn, wait: { stage: 2, until } }, queue: line ? [line, ...queue] : queue })
    return
  }
  if (tools.length > 0) return draft.set({ turn: { ...turn, wait: { stage: 2, until: "tool" } } })
  fail(draft, { reason: "no_reply", message: `no reply to turn ${turn.id} in two waits` })
}

const callerIsSilent = (draft: Draft) => {
  const { now, settings, silence } = draft.call
  const streak = silence.streak + 1
  draft.set({ silence: { since: now, streak } })
  draft.event({ name: "silence", seconds: settings.noResponseTimeout, streak })
}

const at = (until: number | "tool" | undefined, happens: Wait["happens"]): ReadonlyArray<Wait> =>
  typeof until === "number" ? [{ at: until, happens }] : []

const waits = (call: PhoneCall): ReadonlyArray<Wait> => {
  const { connection, playing, settings, silence, speech, tools, transfer, turn } = call
  const silentFrom = settings.noResponseTimeout > 0 ? silence.since : undefined
  const gone = connection._tag === "Gone" ? connection : undefined
  return [
    ...at(playing?.wordUntil, wordHeard),
    ...at(gone?.openAt, reopens),
    ...at(gone?.by, stayedAway),
    ...tools.flatMap((tool) => at(tool.until, (draft) => toolAnswered(draft, tool))),
    ...at(transfer?.until, dialled),
    ...at(speech?.silentUntil, (draft) => startTurn(draft, { type: "no_input" })),
    ...at(turn?.wait?.until, firstChunkIsLate),
    ...at(silentFrom && silentFrom + settings.noResponseTimeout * 1_000, callerIsSilent)
  ]
}

/** What comes next by itself, and when; of two at the same time the one that is named first. */
export const nextWait = (call: PhoneCall): Wait | undefined => {
  if (call.phase === "ended") return undefined
  // On failure nothing counts any more but the line that is said.
  const pending = call.phase === "live" ? waits(call) : at(call.playing?.wordUntil, wordHeard)
  return pending.reduce<Wait | undefined>(
    (first, wait) => (first === undefined || wait.at < first.at ? wait : first),
    undefined
  )
}
