import { type Actor, EntryId, type SessionId, type SubmitPromptRequestValue, type TurnId } from "@harness/protocol"
import { Cause, Context, Effect, FiberSet, Layer } from "effect"
import type { Agents } from "../agents/Agents.ts"
import type { Compactions } from "../compaction/Compactions.ts"
import { HistoryRepo, type StoredEntry } from "../history/HistoryRepo.ts"
import { Hooks } from "../hooks/Hooks.ts"
import { isTerminalRow, type LogRow } from "../log/fact.ts"
import { Hub } from "../log/Hub.ts"
import { Models } from "../models/Models.ts"
import type { SessionsRepo } from "../sessions/SessionsRepo.ts"
import type { Home } from "../storage/Home.ts"
import type { Tools } from "../tools/Tools.ts"
import type { Held, Progress } from "../turns/Progress.ts"
import { Submissions } from "../turns/Submissions.ts"
import { promptOf, type TurnRow, type TurnsRepo } from "../turns/TurnsRepo.ts"
import type { SpendingRepo } from "../usage/SpendingRepo.ts"
import { folded } from "../voice/folded.ts"
import type { VoiceRepo } from "../voice/VoiceRepo.ts"
import { overBudget } from "./budget.ts"
import { Failures, toolboxOf } from "./calls.ts"
import { type Draft, makeDraft } from "./Draft.ts"
import { deliverableOf } from "./deliverable.ts"
import { draftKey, wordsOf } from "./draftKey.ts"
import { Growing } from "./Growing.ts"
import { subjectOf } from "./judge.ts"
import { requestOf, toSend } from "./request.ts"
import type { Stage } from "./Stage.ts"
import { soundOf } from "./voice.ts"

/** A draft nobody has taken by then is dropped. */
const UNTAKEN = "10 seconds"

type Needs =
  | Agents
  | Compactions
  | HistoryRepo
  | Home
  | Hooks
  | Hub
  | Models
  | Progress
  | SessionsRepo
  | SpendingRepo
  | Submissions
  | Tools
  | TurnsRepo
  | VoiceRepo

/** The draft a session has just now, and what ends its watch over the session. */
interface Alive {
  readonly draft: Draft
  readonly leave: () => void
}

/** Whether what happened makes a draft for that turn worthless: whatever its request may be made of, and the turn's end. */
const overtakes = (row: LogRow, turnId: TurnId): boolean =>
  row.turnId === turnId ? isTerminalRow(row) : row.type !== "title"

/** The prompt where it would stand if it were submitted. */
const entryOf = (turn: TurnRow, entries: ReadonlyArray<StoredEntry>): StoredEntry => {
  const { content, custom, role } = promptOf(turn)
  const { turnId } = turn
  return {
    entryId: EntryId.make(`draft-${turnId}`),
    ord: (entries.at(-1)?.ord ?? 0) + 1,
    role,
    content,
    turnId,
    ...(custom === undefined ? {} : { custom })
  }
}

/** Makes the request that the turn's first step would make, and asks the model. A hook's no is a no here too. */
const work = (draft: Draft, held: Held, entries: ReadonlyArray<StoredEntry>, name: string) =>
  Effect.gen(function* () {
    const hub = yield* Hub
    const hooks = yield* Hooks
    const models = yield* Models
    const { turn } = held
    const allowed = yield* hooks.preTurn({ ...subjectOf(held), draft: name })
    if (allowed._tag === "Vetoed") return
    const model = yield* models.resolve(turn.model)
    const sound = yield* soundOf(held)
    const stage: Stage = {
      held,
      model,
      crew: { failures: new Failures(), deliverable: deliverableOf(turn, model), detaches: () => false },
      growing: new Growing(hub, turn, 1, []),
      continued: false,
      // A draft writes no summary.
      crowded: true,
      said: 0,
      load: 0,
      sound
    }
    const toolbox = yield* toolboxOf(held, stage.crew.deliverable)
    const asked = yield* requestOf(stage, turn, toolbox, [...entries, entryOf(turn, entries)], name)
    if (asked._tag !== "Go") return
    if ((yield* overBudget(turn, model, asked.generation)) !== undefined) return
    const request = toSend(stage, turn, toolbox, asked.generation)
    yield* draft.ask(model, request, draftKey(turn, model, sound?.language, request))
  }).pipe(
    Effect.raceFirst(draft.stopped),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logWarning("a draft could not be made", cause)
    )
  )

const make = Effect.gen(function* () {
  const hub = yield* Hub
  const history = yield* HistoryRepo
  const submissions = yield* Submissions
  const context = yield* Effect.context<Needs>()
  const run = yield* FiberSet.makeRuntime<never>()
  const alive = new Map<string, Alive>()
  const owing = new Map<string, number>()
  let drafted = 0

  const leave = (sessionId: string, draft: Draft | undefined): Draft | undefined => {
    const here = alive.get(sessionId)
    if (here === undefined || (draft !== undefined && here.draft !== draft)) return undefined
    alive.delete(sessionId)
    here.leave()
    return here.draft
  }

  /** Ends the session's draft, or that very one. What it cost is owed. */
  const drop = (sessionId: string, draft?: Draft): void => {
    const left = leave(sessionId, draft)
    if (left === undefined) return
    const spent = left.spent()
    if (spent > 0) owing.set(sessionId, (owing.get(sessionId) ?? 0) + spent)
    left.stop()
  }

  const begin = Effect.fn("Drafts.begin")(function* (
    sessionId: SessionId,
    turnId: TurnId,
    request: SubmitPromptRequestValue,
    actor: Actor
  ) {
    const held = yield* Effect.orElseSucceed(submissions.foresee(sessionId, turnId, request, actor), () => undefined)
    if (held === undefined) return false
    const words = folded(wordsOf(held.turn) ?? "")
    const there = alive.get(sessionId)?.draft
    if (there?.turnId === turnId && there.words === words) return false
    drop(sessionId)
    const draft = yield* makeDraft({ turnId, words })
    const overtaken = hub.listen(sessionId, {
      row: (row) => {
        if (overtakes(row, turnId)) drop(sessionId, draft)
      },
      delta: () => {}
    })
    alive.set(sessionId, { draft, leave: overtaken })
    // What the session holds at this moment: a prompt submitted from now on is not in it.
    const entries = yield* history.forModel(sessionId)
    drafted++
    const made = Effect.provide(work(draft, held, entries, String(drafted)), context)
    // One that was not made is nobody's.
    run(
      Effect.zipRight(
        made,
        Effect.sync(() => (draft.begun() ? undefined : drop(sessionId, draft)))
      )
    )
    const untaken = Effect.zipRight(
      Effect.sleep(UNTAKEN),
      Effect.sync(() => {
        drop(sessionId, draft)
        draft.lapse()
      })
    )
    run(Effect.raceFirst(untaken, draft.stopped))
    return true
  })

  return {
    /**
     * Begins to answer a prompt that is not submitted yet: nothing is stored, told or run. False: the same draft is there
     * already, or the prompt could not start at once.
     */
    begin,
    /** The session's draft is not wanted. */
    drop: (sessionId: string): void => drop(sessionId),
    /** The draft that answers exactly what the turn is about to ask; the turn has it from here on. Any other is dropped. */
    take: (turn: TurnRow, key: () => string): Draft | undefined => {
      const there = alive.get(turn.sessionId)?.draft
      if (there === undefined) return undefined
      if (there.turnId === turn.turnId && there.fits(key())) return leave(turn.sessionId, there)
      drop(turn.sessionId)
      return undefined
    },
    /** Tokens of dropped drafts that no turn has counted yet. */
    owed: (sessionId: string): number => owing.get(sessionId) ?? 0,
    /** A turn has counted so many. */
    settle: (sessionId: string, tokens: number): void => {
      const left = (owing.get(sessionId) ?? 0) - tokens
      if (left > 0) owing.set(sessionId, left)
      else owing.delete(sessionId)
    },
    /** The call is over. */
    forget: (sessionId: string): void => {
      drop(sessionId)
      owing.delete(sessionId)
    }
  }
})

/** Answers begun early, at most one a session; they live in this process alone. */
export class Drafts extends Context.Tag("@harness/server/Drafts")<Drafts, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.scoped(Drafts, make)
}
