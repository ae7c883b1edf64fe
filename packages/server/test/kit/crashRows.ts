import type { TurnSnapshot } from "@harness/protocol"
import { expect } from "vitest"
import { answers } from "./crashAnswers.ts"
import { calls } from "./crashCalls.ts"
import type { ScriptedRequest } from "./scriptedModel.ts"
import { messagesOf, textOf } from "./stage.ts"
import type { wire } from "./wire.ts"

/** Every way a row may be played. */
export const scenarios = { ...calls, ...answers }

/** One death (or more), and what must be true when all is over. */
export interface Row {
  /** `point:n` of each server that dies, in order; n is 1 when it is left out. */
  readonly at: ReadonlyArray<string>
  /** Moments that leave the very same behind: the commit just before. */
  readonly same?: ReadonlyArray<string>
  readonly scenario: keyof typeof scenarios
  /** Which step of a turn's way, or of a call's, it stands for. */
  readonly stands: string
  /** How often the model is asked again, because its answer was lost or because it wins a race. */
  readonly again?: 1 | "perhaps"
  /** The call that was started is interrupted, and ran this often. */
  readonly interrupted?: 0 | 1
  /** So many of the asks that were open before are open after. */
  readonly open?: number
  /** How the turn ends, where that is not `completed`. */
  readonly turn?: object
  readonly also?: (
    turn: TurnSnapshot,
    api: ReturnType<typeof wire>,
    requests: ReadonlyArray<ScriptedRequest>
  ) => void | Promise<void>
}

const both = (
  commit: string,
  scenario: Row["scenario"],
  stands: string,
  before: Partial<Row> = {},
  after: Partial<Row> = before
): ReadonlyArray<Row> => [
  { at: [`before-${commit}`], scenario, stands: `${stands}, lost`, ...before },
  { at: [`after-${commit}`], scenario, stands: `${stands}, kept`, ...after }
]

const notices = (turn: TurnSnapshot): ReadonlyArray<string> =>
  turn.parts.flatMap((part) => (part.type === "notice" ? [part.code] : []))
const noticed = (...codes: ReadonlyArray<string>): Pick<Row, "also"> => ({
  also: (turn) => expect(notices(turn)).toEqual(codes)
})
const LOST = { again: 1 } as const
const GIVEN = { turn: { state: "cancelled", stopReason: "cancelled" } }
const CANCELLED = { ...GIVEN, interrupted: 1 } as const
const RESULT = { turn: { state: "completed", stopReason: "end", result: { n: 7 } } }
const CAPPED = { turn: { state: "completed", stopReason: "max_steps" }, ...noticed("max_steps") }
const INVALID = "output.invalid"
const MISFIT = { ...RESULT, ...noticed(INVALID) }
const EXHAUSTED = { turn: { stopReason: "output_invalid" }, ...noticed(INVALID, INVALID, INVALID) }
const summed = (...states: ReadonlyArray<string>): Pick<Row, "also"> => ({
  also: async ({ sessionId }, { get }) => {
    const { compactions } = (await get(`/sessions/${sessionId}/compactions`)).body
    expect(compactions.map(({ state }: { state: string }) => state)).toEqual(states)
  }
})
const prompted = (...contents: ReadonlyArray<string>): Pick<Row, "also"> => ({
  also: (_turn, _api, requests) =>
    expect(
      requests
        .slice(-1)
        .flatMap(messagesOf)
        .flatMap((message) => (message.role === "user" ? [textOf(message).replace(/^[a-z0-9-]+: /, "")] : []))
    ).toEqual(contents)
})

const TWO_WORDS = prompted("go", "to the left")

/** The step and the call, each ● before and after it is committed. */
export const crashRows: ReadonlyArray<Row> = [
  // The step.
  { at: ["before-accepted"], scenario: "rule", stands: "a prompt, lost before it was acknowledged" },
  { at: ["before-started"], same: ["after-accepted"], scenario: "rule", stands: "1: an accepted prompt" },
  { at: ["before-steers"], same: ["after-started"], scenario: "rule", stands: "2: the turn has started" },
  ...both("steered", "steer", "a steer is accepted", { ...LOST, ...TWO_WORDS }, TWO_WORDS),
  { at: ["after-steers:2"], scenario: "steer", stands: "1: steers are taken", ...TWO_WORDS },
  ...both("checkpoint", "text", "5: growing text", { turn: { finalText: "half whole", attempt: 2 } }),
  ...both("notice", "retry", "5: a retry is told"),
  ...both("answer", "rule", "6: the whole answer and its calls", LOST, {}),
  { at: ["after-answer:2"], scenario: "rule", stands: "9: the last answer and the terminal" },
  { at: ["after-answer"], scenario: "misfit", stands: "6: an answer that broke its contract", ...MISFIT },
  { at: ["after-answer:3"], scenario: "exhausted", stands: "9: the last try that broke its contract", ...EXHAUSTED },
  { at: ["before-end"], same: ["after-steers"], scenario: "cap", stands: "3: the cap", ...CAPPED },
  { at: ["before-end"], scenario: "handin", stands: "9: a handed-in result, lost", ...RESULT },
  { at: ["after-end"], scenario: "handin", stands: "9: a handed-in result, and the terminal", ...RESULT },
  ...both("settled", "given", "9: the terminal of a turn that waited", { ...GIVEN, open: 2 }, { ...GIVEN, open: 0 }),
  ...both("cancel-asked", "cancel", "a cancel is accepted", { ...CANCELLED, again: "perhaps" }, CANCELLED),
  // The call.
  ...both("waits-permission", "asks", "4: a permission request is made"),
  ...both("waits-question", "asks", "a question is put"),
  ...both("waits-external", "asks", "a client's call waits"),
  ...both("waits-hold", "hold", "3: a hook holds a call"),
  { at: ["before-parked"], scenario: "asks", stands: "8: all calls wait" },
  {
    at: ["before-released"],
    same: ["after-parked", "after-step-done"],
    scenario: "asks",
    stands: "8: the turn waits, and a reply is lost",
    open: 2
  },
  { at: ["before-taken-up"], same: ["after-released"], scenario: "asks", stands: "4: a request is answered", open: 1 },
  { at: ["before-step-done:2"], same: ["after-taken-up"], scenario: "asks", stands: "8: the turn goes on", open: 1 },
  { at: ["before-call-started"], scenario: "asks", stands: "5: started with its key, lost", open: 1 },
  { at: ["after-call-started"], scenario: "asks", stands: "5: started with its key", open: 1, interrupted: 0 },
  { at: ["before-call-settled"], scenario: "asks", stands: "6: the result, lost", open: 1, interrupted: 1 },
  { at: ["before-parked:2"], same: ["after-call-settled"], scenario: "asks", stands: "6: the result", open: 1 },
  {
    at: ["before-delivered:2"],
    same: ["after-delivered"],
    scenario: "asks",
    stands: "a question is answered",
    open: 0
  },
  // Sub-agents.
  ...both("spawned", "task", "a sub-agent is spawned"),
  ...both("delivered", "task", "a sub-agent's terminal settles its parent's call"),
  ...both("result-queued", "background", "a background result becomes a turn"),
  // Summaries.
  {
    at: ["before-compaction-asked"],
    scenario: "between",
    stands: "a summary, not acknowledged",
    ...summed("completed")
  },
  {
    at: ["before-compaction-begun"],
    same: ["after-compaction-asked"],
    scenario: "between",
    stands: "a summary is asked for",
    ...summed("completed")
  },
  {
    at: ["before-compacted"],
    same: ["after-compaction-begun"],
    scenario: "between",
    stands: "a summary is begun",
    ...summed("failed")
  },
  {
    at: ["before-compacted"],
    scenario: "within",
    stands: "a turn's own summary, lost",
    ...LOST,
    ...summed("failed", "completed")
  },
  { at: ["after-compacted"], scenario: "within", stands: "a turn's own summary", ...summed("completed") },
  // The deaths after a death.
  {
    at: ["after-call-started", "before-recovered", "after-recovered"],
    scenario: "rule",
    stands: "a turn is made ready again",
    interrupted: 0,
    turn: { attempt: 3 }
  }
]
