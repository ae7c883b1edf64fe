import { EntryId, type SessionId } from "@harness/protocol"
import { Effect, Either, Ref, Stream } from "effect"
import { roomOf, tokensOfText } from "../compaction/tokens.ts"
import { transcriptOf } from "../compaction/transcript.ts"
import { History } from "../history/History.ts"
import { HistoryRepo, type StoredEntry } from "../history/HistoryRepo.ts"
import { CommitRoom, type Tx } from "../log/Commit.ts"
import { Models } from "../models/Models.ts"
import { streamOf } from "../providers/answer.ts"
import type { ResolvedModel } from "../providers/Model.ts"
import { withRetries } from "../providers/retry.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { configurationOf } from "../sessions/SessionsRepo.ts"
import { FactsRepo, WANTED, WHOLE_CALL } from "../voice/FactsRepo.ts"
import { CALLER } from "./scene.ts"

/** The entry a summary is: a call has one. */
export const SUMMARY_ENTRY = EntryId.make("voice-summary")

const TIME_MAX = "2 minutes"

const SYSTEM =
  "You sum up a phone call for those who read about it later: who called and why, what was found out, agreed and done (with names, numbers and dates), and what is still open. A few plain sentences, no preamble."
const ASK = "Sum up this phone call."

/** The call's end is committed with the wish for a summary, so that a crash does not lose it. */
export const wantSummary = (tx: Tx, sessionId: SessionId) =>
  FactsRepo.put(tx, sessionId, { kind: WANTED, turn: WHOLE_CALL, body: {} })

const ask = (model: ResolvedModel, entries: ReadonlyArray<StoredEntry>) =>
  Effect.gen(function* () {
    const { retryBaseMillis } = yield* Models
    const text = yield* Ref.make("")
    const room = roomOf(model)
    const left = room === undefined ? undefined : Math.max(0, room - tokensOfText(SYSTEM) - tokensOfText(ASK))
    const content = `${ASK}\n\n${transcriptOf(entries, left)}`
    const answer = withRetries(
      () =>
        model.generate({
          system: SYSTEM,
          messages: [{ role: "user", content: [{ type: "text", text: content }] }],
          tools: []
        }),
      { onRetry: () => Effect.void, baseMillis: retryBaseMillis }
    )
    yield* streamOf(answer).pipe(
      Stream.runForEach((event) => (event._tag === "Text" ? Ref.update(text, (so) => so + event.delta) : Effect.void))
    )
    return (yield* Ref.get(text)).trim()
  })

const write = (sessionId: SessionId, agentModel: string | undefined) =>
  Effect.gen(function* () {
    const models = yield* Models
    const history = yield* History
    const session = yield* (yield* Sessions).row(sessionId)
    const entries = yield* (yield* HistoryRepo).forModel(sessionId)
    if (entries.length === 0 || entries.some(({ entryId }) => entryId === SUMMARY_ENTRY)) return
    const name = configurationOf(session).model ?? agentModel ?? (yield* models.defaultModel)
    const content = yield* ask(yield* models.resolve(name), entries)
    if (content === "") return yield* Effect.logWarning("voice: the model gave no summary of the call")
    const custom = { type: "voice.summary", details: { model: name } }
    yield* history.append(sessionId, SUMMARY_ENTRY, { role: "custom", content, custom }, CALLER)
  })

/** Writes the summary of a call that has ended, if its agent wants one: one model call, and one entry. */
export const summarise = (sessionId: SessionId, agentModel: string | undefined) =>
  Effect.gen(function* () {
    const room = yield* CommitRoom
    const written = yield* Effect.either(Effect.timeout(write(sessionId, agentModel), TIME_MAX))
    if (Either.isLeft(written)) yield* Effect.logWarning("voice: a call could not be summed up", written.left)
    yield* room.commit<void, never>((tx) => Effect.asVoid(FactsRepo.remove(tx, sessionId, WANTED)))
  }).pipe(Effect.annotateLogs({ sessionId }))
