import { SessionResponse, type TurnPart, TurnSnapshot } from "@harness/protocol"
import { answers, ensure, same, section, shaped } from "../check.ts"
import type { Harness } from "../harness.ts"
import type { EventReader, Frame } from "../sse.ts"

const slow = "write 120 words every 5 ms"
const words = Array.from({ length: 120 }, (_, index) => `w${index + 1}`).join(" ")

const textOf = (frame: Frame, partId: string): string | undefined => {
  const turn = frame.data["turn"]
  if (typeof turn !== "object" || turn === null || !("parts" in turn) || !Array.isArray(turn.parts)) return undefined
  const part: unknown = turn.parts.find((one: { readonly partId?: unknown }) => one.partId === partId)
  return typeof part === "object" && part !== null && "text" in part ? String(part.text) : undefined
}

/** What a reader holds of a part: snapshots replace, deltas go on where they say, and never leave a gap. */
const join = (frames: ReadonlyArray<Frame>, partId: string): string => {
  let text = ""
  for (const frame of frames) {
    const whole = textOf(frame, partId)
    if (whole !== undefined) text = whole
    if (!frame.event.endsWith(".text.delta") || frame.data["partId"] !== partId) continue
    const offset = Number(frame.data["offset"])
    ensure(offset <= text.length, `a delta begins at ${offset}, with ${text.length} there`)
    text = text.slice(0, offset) + String(frame.data["delta"])
  }
  return text
}

const isDelta = (frame: Frame) => frame.event.endsWith(".text.delta")

/** Opens a stream once the turn's text is growing. */
const joinMidway = async (harness: Harness, session: string, path: string): Promise<EventReader> => {
  const ahead = await harness.watch(`${harness.n(session)}/events?afterCursor=1`)
  await harness.submit(session, "t1", { content: slow })
  for (let count = 0; count < 5; count++) await ahead.until(isDelta, "a delta")
  return harness.watch(path)
}

const snapshotThenDelta = async (stream: EventReader) => {
  const delta = await stream.until(isDelta, "a delta")
  const partId = String(delta.data["partId"])
  const snapshot = stream.seen.findLast((frame) => textOf(frame, partId) !== undefined)
  ensure(snapshot !== undefined, "no snapshot came before the first delta")
  same(Number(delta.data["offset"]), textOf(snapshot, partId)?.length, "offset of the first delta")
  return partId
}

/** §4: deltas, and snapshots that fold. */
export const deltaChecks = section("deltas", {
  "who joins a session in the middle of a text gets a snapshot that ends where the first delta begins": async (
    harness
  ) => {
    const session = await harness.session()
    const stream = await joinMidway(harness, session, `${harness.n(session)}/events`)
    const partId = await snapshotThenDelta(stream)
    await harness.ended(session, "t1")
    const head = answers(await harness.get(harness.n(session)), 200, SessionResponse).cursor
    await stream.until((frame) => frame.id === head, `cursor ${head}`)
    same(join(stream.seen, partId), words, "the text")
  },
  "who joins a turn in the middle of a text gets a snapshot that ends where the first delta begins": async (
    harness
  ) => {
    const session = await harness.session()
    const stream = await joinMidway(harness, session, `${harness.t(session, "t1")}/events`)
    const partId = await snapshotThenDelta(stream)
    same(join(await stream.toEnd(), partId), words, "the text")
  },
  "who resumes a turn in the middle of a text does too": async (harness) => {
    const session = await harness.session()
    const stream = await joinMidway(harness, session, `${harness.t(session, "t1")}/events?afterRevision=1`)
    const partId = await snapshotThenDelta(stream)
    same(join(await stream.toEnd(), partId), words, "the text")
  },
  "every delta of a text begins where the one before ended": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: slow })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const frames = await stream.toEnd()
    const [first] = frames.filter(isDelta)
    same(join(frames, String(first?.data["partId"])), words, "the text")
  },
  "offsets count UTF-16 code units, and no delta cuts a character": async (harness) => {
    const session = await harness.session()
    const text = "🌍🌎🌏 naïve 日本語 👩‍👩‍👧‍👦 ".repeat(8).trim()
    await harness.submit(session, "t1", { content: text })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const frames = await stream.toEnd()
    for (const { data } of frames.filter(isDelta))
      ensure(String(data["delta"]).isWellFormed(), "a delta is cut in a character")
    const [first] = frames.filter(isDelta)
    same(join(frames, String(first?.data["partId"])), text, "the text")
  },
  "the changes of a turn fold into the turn": async (harness) => {
    const session = await harness.session()
    await harness.submit(session, "t1", { content: 'think use list {"path":"."}' })
    const stream = await harness.watch(`${harness.t(session, "t1")}/events?afterRevision=0`)
    const frames = await stream.toEnd()
    const parts = new Map<string, unknown>()
    for (const frame of frames.filter((one) => one.event === "turn.snapshot")) {
      const turn = frame.data["turn"]
      const changed = typeof turn === "object" && turn !== null && "parts" in turn ? turn.parts : []
      ensure(Array.isArray(changed), "parts is no list")
      for (const part of changed) parts.set(String(part.partId), part)
    }
    const last = shaped(TurnSnapshot, frames.at(-1)?.data["turn"], "the terminal's turn")
    const changed = new Set(parts.keys())
    const whole = last.parts.filter((part: TurnPart) => changed.has(part.partId))
    ensure(changed.size > 0, "no snapshot changed a part")
    same(
      [...changed].map((partId) => parts.get(partId)),
      whole,
      "the folded parts"
    )
  }
})
