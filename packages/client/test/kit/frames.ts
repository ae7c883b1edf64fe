/** A durable frame. */
export const row = (id: number, event: { readonly type: string }): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** A frame that has no place in the log. */
export const plain = (event: { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** Bytes in pieces that end at these places. */
export const slices = (bytes: Uint8Array, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...cuts, bytes.length].map((end, n) => bytes.subarray(n === 0 ? 0 : (cuts[n - 1] ?? 0), end))
}
