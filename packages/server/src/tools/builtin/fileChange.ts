import type { JsonObject } from "@harness/protocol"
import { Effect, Either } from "effect"
import { openJudged } from "../../workspace/openJudged.ts"
import { type PathError, pathError, type ToolPath } from "../../workspace/paths.ts"
import { shortened, unifiedDiff } from "../diff.ts"

/** Larger files are neither edited nor compared: that takes memory and time from everybody. */
export const TEXT_MAX_BYTES = 4_194_304
/** What a person is shown of a change: it is part of an event, which has a bound. */
const DETAIL_MAX_BYTES = 262_144
/** What a result keeps of a diff. */
const DIFF_MAX_BYTES = 32_768

/** What a change finds at its path: nothing, a text, or bytes that are none or too many. */
export type Current =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Text"; readonly text: string; readonly size: number }
  | { readonly _tag: "Bytes"; readonly size: number }

const decodeStrictly = (bytes: Uint8Array) =>
  Either.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))

/** Reads what is at the path now, if it is still what was judged. */
export const readCurrent = (path: ToolPath): Effect.Effect<Current, PathError> =>
  Effect.gen(function* () {
    if (path.stats === undefined) return { _tag: "Nothing" } as const
    const { size } = path.stats
    if (!path.stats.isFile() || size > TEXT_MAX_BYTES) return { _tag: "Bytes", size } as const
    const handle = yield* openJudged(path)
    const bytes = yield* Effect.tryPromise({ try: () => handle.readFile(), catch: pathError })
    const text = decodeStrictly(bytes)
    return Either.isRight(text) && !text.right.includes("\0")
      ? ({ _tag: "Text", text: text.right, size } as const)
      : ({ _tag: "Bytes", size } as const)
  }).pipe(Effect.scoped)

const comparable = (text: string): boolean => Buffer.byteLength(text) <= TEXT_MAX_BYTES

/** What a new content would change, for a person to judge. `current` is absent where nobody may look yet. */
export const detailOf = (name: string, current: Current | undefined, content: string): string => {
  const size = Buffer.byteLength(content)
  if (!comparable(content)) return `${name}: ${size} bytes, too many to show`
  const shown =
    current === undefined
      ? `What ${name} holds now, if anything, is replaced by:\n${unifiedDiff(name, "", content)}`
      : current._tag === "Bytes"
        ? `What ${name} holds now (${current.size} bytes, not shown) is replaced by:\n${unifiedDiff(name, "", content)}`
        : unifiedDiff(name, current._tag === "Text" ? current.text : undefined, content)
  const text = shown !== "" ? shown : current?._tag === "Text" ? `${name} stays as it is` : `${name}: a new empty file`
  return shortened(text, DETAIL_MAX_BYTES)
}

/** The diff of a change that was made, as its result keeps it; none where one of the two is no text. */
export const diffOf = (name: string, current: Current, content: string): JsonObject => {
  if (current._tag === "Bytes" || !comparable(content)) return {}
  const diff = unifiedDiff(name, current._tag === "Text" ? current.text : undefined, content)
  return { diff: shortened(diff, DIFF_MAX_BYTES) }
}

/** A text of any length as a person is shown it. */
export const shownToPerson = (text: string): string => shortened(text, DETAIL_MAX_BYTES)
