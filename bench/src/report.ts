import { cpus, loadavg } from "node:os"
import { median, type Rounds } from "./measure.ts"

/** A number we want to hold, and whether it does. */
export interface Aim {
  readonly says: string
  readonly holds: boolean
}

/** One comparison: ours, the plain way, and how many times the plain one ours is. */
export interface Row {
  readonly bench: string
  readonly what: string
  readonly unit: "ms" | "us" | "/s" | "MiB" | "KiB"
  readonly ours: number
  /** Absent where nothing plain does anything like it. */
  readonly plain?: number
  readonly ratio?: number
  readonly aim?: Aim
  /** Every round, in order. */
  readonly rounds?: Rounds<number>
}

/** What a benchmark may use. */
export interface Options {
  /** Fewer and shorter rounds: shows that it runs, not how fast. */
  readonly quick: boolean
  /** A fresh folder that is removed at the end. */
  readonly folder: () => string
  /** Where CPU profiles of our server go. */
  readonly profile: string | undefined
  /** `voice`: so many calls at once, whose replies begin within so many milliseconds. */
  readonly calls: number | undefined
  readonly spreadMillis: number | undefined
}

export interface Bench {
  readonly name: string
  readonly run: (options: Options) => Promise<ReadonlyArray<Row>>
}

/** A row from the medians of its rounds. */
export const rowOf = (
  about: Pick<Row, "bench" | "what" | "unit">,
  rounds: Rounds<number>,
  aim?: (ours: number, plain: number) => Aim
): Row => rowFrom(about, median(rounds.ours), median(rounds.plain), aim, rounds)

/** A row from two numbers. */
export const rowFrom = (
  about: Pick<Row, "bench" | "what" | "unit">,
  ours: number,
  plain: number,
  aim?: (ours: number, plain: number) => Aim,
  rounds?: Rounds<number>
): Row => ({
  ...about,
  ours,
  plain,
  ratio: ours / plain,
  ...(aim === undefined ? {} : { aim: aim(ours, plain) }),
  ...(rounds === undefined ? {} : { rounds })
})

/** A row of a number that nothing plain has. */
export const rowAlone = (
  about: Pick<Row, "bench" | "what" | "unit">,
  ours: number,
  aim?: (ours: number) => Aim
): Row => ({ ...about, ours, ...(aim === undefined ? {} : { aim: aim(ours) }) })

/** Ours is at most this many times the plain number. */
export const atMostTimes =
  (times: number) =>
  (ours: number, plain: number): Aim => ({
    says: `≤ ${times} ×`,
    holds: ours <= times * plain
  })

/** Ours is at least this many times the plain number. */
export const atLeastTimes =
  (times: number) =>
  (ours: number, plain: number): Aim => ({
    says: `≥ ${times} ×`,
    holds: ours >= times * plain
  })

/** Ours is under a fixed number. */
export const under =
  (limit: number, unit: string) =>
  (ours: number): Aim => ({
    says: `< ${limit} ${unit}`,
    holds: ours < limit
  })

const show = (value: number): string =>
  value >= 1000
    ? String(Math.round(value))
    : value >= 100
      ? value.toFixed(0)
      : value >= 10
        ? value.toFixed(1)
        : value.toFixed(2)

/** The rows as a table for people. */
export const table = (rows: ReadonlyArray<Row>): string => {
  const head = ["benchmark", "what", "ours", "plain", "ratio", "aim", ""]
  const lines = rows.map((row) => [
    row.bench,
    row.what,
    `${show(row.ours)} ${row.unit}`,
    row.plain === undefined ? "" : `${show(row.plain)} ${row.unit}`,
    row.ratio === undefined ? "" : `${row.ratio.toFixed(2)} ×`,
    row.aim?.says ?? "",
    row.aim === undefined ? "" : row.aim.holds ? "holds" : "MISSED"
  ])
  const widths = head.map((title, column) =>
    Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0), title.length)
  )
  const isNumber = (column: number) => column >= 2 && column <= 4
  const draw = (line: ReadonlyArray<string>) =>
    line
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  return [draw(head), draw(widths.map((width) => "-".repeat(width))), ...lines.map(draw)].join("\n")
}

/** What the numbers were taken on. */
export const machine = () => ({
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cpus: cpus().length,
  model: cpus()[0]?.model ?? "",
  load: loadavg()[0] ?? 0
})
