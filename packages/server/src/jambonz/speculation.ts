import { callTurn, type SpeechStart, type Transcript, type TurnCancel, type TurnStart } from "@harness/protocol/jambonz"
import { Clock, Effect } from "effect"
import { Drafts } from "../loop/Drafts.ts"
import { folded } from "../voice/folded.ts"
import { spokenPrompt } from "./asks.ts"
import { cancelTurn } from "./hearing.ts"
import { Patience } from "./Patience.ts"
import { tellLate } from "./requests.ts"
import { CALLER, type Scene, type Utterance, type Work } from "./scene.ts"

/** Words that did not change for so long may be all of them. */
const STEADY_MILLIS = 300
/** Who speaks longer than this will say more. */
const SPEECH_MAX_MILLIS = 10_000
const DRAFTS_MAX = 3

/** What the caller is saying for a turn that has not started; undefined where it has. */
const utteranceOf = (scene: Scene, turnNumber: number) =>
  Effect.gen(function* () {
    const { utterance } = scene
    if (utterance?.turnNumber === turnNumber) return utterance
    if (turnNumber <= Math.max(scene.lastTurn, utterance?.turnNumber ?? -1)) return undefined
    yield* forgetUtterance(scene)
    const since = yield* Clock.currentTimeMillis
    const fresh: Utterance = { turnNumber, since, text: "", language: undefined, steady: false, drafts: 0 }
    scene.utterance = fresh
    return fresh
  })

const dropDraft = (scene: Scene) => Effect.map(Drafts, (drafts) => drafts.drop(scene.sessionId))

const forgetUtterance = (scene: Scene) =>
  Effect.suspend(() => {
    scene.utterance = undefined
    scene.timers.clear("draft")
    return dropDraft(scene)
  })

/** `speech:start`: the caller speaks. */
export const speechStarts = (scene: Scene, { turn_id }: SpeechStart) =>
  Effect.gen(function* () {
    scene.callerSpeaks = true
    scene.timers.set("speech", (yield* Patience).speech)
    yield* utteranceOf(scene, turn_id)
  })

/** What began as speech was none, or came to nothing: what waited for its end waits no longer. */
export const speechEnds = (scene: Scene) =>
  Effect.suspend(() => {
    scene.callerSpeaks = false
    scene.timers.clear("speech")
    return tellLate(scene)
  })

/** `transcript`: what the caller has said so far. Words that may be all of them are answered by a draft, others end it. */
export const transcript = (scene: Scene, { final, language, text, turn_id }: Transcript) =>
  Effect.gen(function* () {
    if (scene.callerSpeaks) scene.timers.set("speech", (yield* Patience).speech)
    if (!scene.voice.speculation) return
    const utterance = yield* utteranceOf(scene, turn_id)
    if (utterance === undefined) return
    const changed = folded(text) !== folded(utterance.text)
    utterance.text = text
    utterance.language = language ?? utterance.language
    if (changed) {
      utterance.steady = false
      yield* dropDraft(scene)
    }
    if (final) yield* steady(scene)
    else if (changed) scene.timers.set("draft", STEADY_MILLIS)
  })

/** The words stand: they are final, or have not changed for a while. */
export const steady = (scene: Scene) =>
  Effect.suspend(() => {
    scene.timers.clear("draft")
    if (scene.utterance !== undefined) scene.utterance.steady = true
    return draft(scene)
  })

/** Begins to answer what the caller said, if that stands and is not being answered yet. */
export const draft = (scene: Scene) =>
  Effect.gen(function* () {
    const { sessionId, utterance } = scene
    // A result that waits for the caller to end goes into what the turn asks.
    if (scene.late.length > 0) return yield* dropDraft(scene)
    if (utterance === undefined || !utterance.steady || scene.ended) return
    const { drafts, since, text, turnNumber } = utterance
    if (folded(text) === "" || drafts >= DRAFTS_MAX) return
    if ((yield* Clock.currentTimeMillis) - since > SPEECH_MAX_MILLIS) return
    const language = utterance.language ?? scene.language
    const prompt = spokenPrompt({ type: "speech", text, language, confidence: undefined })
    const turnId = callTurn(scene.callSid, turnNumber)
    const begun = yield* (yield* Drafts).begin(sessionId, turnId, { ...prompt, whenBusy: "interrupt" }, CALLER)
    if (begun) utterance.drafts++
  })

/** `turn:start` ends what was being said: a draft of other words than these is dropped. */
export const committed = (scene: Scene, { input, turn_id }: TurnStart) =>
  Effect.suspend(() => {
    const { utterance } = scene
    if (turn_id <= scene.lastTurn || utterance === undefined) return Effect.void
    const same =
      utterance.turnNumber === turn_id && input.type === "speech" && folded(input.text) === folded(utterance.text)
    if (!same) return forgetUtterance(scene)
    scene.utterance = undefined
    scene.timers.clear("draft")
    return Effect.void
  })

/** `turn:cancel`, also of a turn that has not started: then what was said for it is forgotten. */
export const cancelled = (scene: Scene, frame: TurnCancel): Work =>
  scene.utterance?.turnNumber === frame.turn_id
    ? Effect.zipRight(forgetUtterance(scene), speechEnds(scene))
    : Effect.zipRight(cancelTurn(scene, frame), draft(scene))
