/** Milliseconds of the machine's monotonic clock, the same in every process. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** The value below which this share of them lies. */
export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5)

/** How long something took, in milliseconds. */
export const timed = async (run: () => Promise<unknown>): Promise<number> => {
  const start = now()
  await run()
  return now() - start
}

/** What both sides measured, round by round. */
export interface Rounds<A> {
  readonly ours: ReadonlyArray<A>
  readonly plain: ReadonlyArray<A>
}

/**
 * Runs both sides in turns, after one round of each that does not count: whatever else the machine does hits both alike.
 * Who goes first changes with every round.
 */
export const interleave = async <A>(
  rounds: number,
  ours: (round: number) => Promise<A>,
  plain: (round: number) => Promise<A>
): Promise<Rounds<A>> => {
  const found: { ours: Array<A>; plain: Array<A> } = { ours: [], plain: [] }
  await ours(0)
  await plain(0)
  for (let round = 1; round <= rounds; round++) {
    if (round % 2 === 1) found.ours.push(await ours(round))
    found.plain.push(await plain(round))
    if (round % 2 === 0) found.ours.push(await ours(round))
  }
  return found
}

/** Runs a numbered job by so many callers at once, until it was done `count` times. */
export const byCallers = async (
  callers: number,
  count: number,
  job: (index: number, caller: number) => Promise<unknown>
) => {
  let next = 0
  const caller = async (_: unknown, number: number) => {
    while (next < count) await job(next++, number)
  }
  await Promise.all(Array.from({ length: callers }, caller))
}
