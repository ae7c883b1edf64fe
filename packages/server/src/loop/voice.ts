import { join } from "node:path"
import { Effect, Option, Predicate } from "effect"
import { Agents } from "../agents/Agents.ts"
import { configurationOf } from "../sessions/SessionsRepo.ts"
import { Home } from "../storage/Home.ts"
import { type Held, Progress } from "../turns/Progress.ts"
import type { TurnRow } from "../turns/TurnsRepo.ts"
import { promptOf } from "../turns/TurnsRepo.ts"
import { isJambonz } from "../voice/applicationTools.ts"
import { isControl, isOurs } from "../voice/controlTools.ts"
import { VoiceRepo } from "../voice/VoiceRepo.ts"
import { toolVoice, type Voice, voiceOf } from "../voice/voiceOf.ts"

/** How a turn of a call sounds. */
export interface Sound {
  readonly voice: Voice
  readonly language: string | undefined
}

/** On a call every tool goes on, but those whose voice says otherwise. */
export const detaches =
  (sound: Sound | undefined) =>
  (name: string): boolean =>
    sound !== undefined && toolVoice(sound.voice, name).onInterrupt === "detach"

/** The language the caller spoke, as the turn's prompt tells it. */
const spokenIn = (turn: TurnRow): string | undefined => {
  const details = promptOf(turn).custom?.details
  const language: unknown = Predicate.hasProperty(details, "language") ? details.language : undefined
  return typeof language === "string" ? language : undefined
}

/** Whether a turn is spoken, and how; undefined where its session is no call that goes on. */
export const soundOf = (held: Held) =>
  Effect.gen(function* () {
    const { session, turn } = held
    const repo = yield* VoiceRepo
    const call = yield* repo.call(session.sessionId)
    if (call?.state !== "live") return undefined
    const agents = yield* Agents
    const home = yield* Home
    const agent = yield* agents.find(join(home.root, session.workdir), turn.agent)
    const voice = voiceOf(Option.getOrUndefined(agent)?.voice)
    const sound: Sound = { voice, language: spokenIn(turn) ?? call.language ?? undefined }
    return sound
  })

/** The external tools of a turn. When its call is over, nobody answers those of the call. */
export const externalToolsOf = ({ session }: Held) =>
  Effect.gen(function* () {
    const { externalTools } = configurationOf(session)
    if (externalTools.length === 0) return externalTools
    const repo = yield* VoiceRepo
    const call = yield* repo.call(session.sessionId)
    if (call?.state !== "ended") return externalTools
    return externalTools.filter(({ name }) => !isJambonz(name) && !(isControl(name) && isOurs(externalTools, name)))
  })

const CALL_ENDED = "call_ended"

/** A turn that a call's session runs when the call is over says so: nobody hears it. */
export const noteEnded = (held: Held) =>
  Effect.gen(function* () {
    const repo = yield* VoiceRepo
    const progress = yield* Progress
    const call = yield* repo.call(held.session.sessionId)
    if (call?.state !== "ended" || held.parts.some(({ part }) => part.type === "notice" && part.code === CALL_ENDED))
      return
    yield* progress.notice(held.turn, CALL_ENDED, "The call has ended: this is not spoken.")
  })
