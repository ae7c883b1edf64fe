import { Stream } from "effect"

interface Reading {
  readonly parts: ReadonlyArray<Uint8Array>
  readonly length: number
}

const NOTHING: Reading = { parts: [], length: 0 }

/**
 * What stands between the delimiters. Of a piece longer than `max` only the front is kept: memory is bounded, whatever
 * is sent. What follows the last delimiter is not a piece.
 */
export const pieces =
  (delimiter: number, max: number) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    bytes.pipe(
      Stream.mapAccum(NOTHING, (before, chunk) => {
        const whole: Array<Uint8Array> = []
        let reading = before
        let at = 0
        const take = (part: Uint8Array) => {
          const kept = part.subarray(0, Math.max(0, max - reading.length))
          if (kept.length > 0) reading = { parts: [...reading.parts, kept], length: reading.length + kept.length }
        }
        for (let end = chunk.indexOf(delimiter); end !== -1; end = chunk.indexOf(delimiter, at)) {
          take(chunk.subarray(at, end))
          whole.push(Buffer.concat(reading.parts))
          reading = NOTHING
          at = end + 1
        }
        take(chunk.subarray(at))
        return [reading, whole] as const
      }),
      Stream.mapConcat((whole) => whole)
    )
