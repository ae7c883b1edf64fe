import type { DaemonLogEntryValue, DaemonLogLevelValue } from "@harness/protocol"
import {
  Array as Arr,
  Cause,
  Context,
  Effect,
  FiberRef,
  HashMap,
  HashSet,
  Inspectable,
  Layer,
  List,
  Logger,
  LogLevel
} from "effect"
import { Redaction } from "../config/Redaction.ts"

/** Entries that are kept; older ones are forgotten. */
const RING_MAX = 10_000

const levels = ["trace", "debug", "info", "warn", "error"] as const satisfies ReadonlyArray<DaemonLogLevelValue>
const rank = (level: DaemonLogLevelValue) => levels.indexOf(level)

const effectLevels: Record<DaemonLogLevelValue, LogLevel.LogLevel> = {
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warn: LogLevel.Warning,
  error: LogLevel.Error
}

const levelOf = (level: LogLevel.LogLevel): DaemonLogLevelValue =>
  levels.findLast((name) => effectLevels[name].ordinal <= level.ordinal) ?? "trace"

/** What the log says of a failure without its stack, which names files of this machine. */
const causeText = (cause: Cause.Cause<unknown>) =>
  Cause.prettyErrors(cause)
    .map((error) => error.message)
    .join("; ")

/** A page of the log. */
export interface LogPage {
  readonly after?: number | undefined
  /** The least level that is shown. */
  readonly level?: DaemonLogLevelValue | undefined
  readonly limit: number
}

/** The recent log of this process, secrets taken out. */
export class DaemonLog extends Context.Tag("@harness/server/DaemonLog")<
  DaemonLog,
  {
    /** Oldest first. `next`: where the following page starts; undefined when there is none yet. */
    readonly read: (page: LogPage) => { readonly logs: ReadonlyArray<DaemonLogEntryValue>; readonly next?: number }
  }
>() {
  /**
   * Keeps the log and writes it on, in place of Effect's own loggers. `write` gets one line without its end; `plain` is
   * for people, `json` for machines.
   */
  static readonly layer = (options: {
    readonly level: DaemonLogLevelValue
    readonly format: "plain" | "json"
    readonly write: (line: string) => void
  }): Layer.Layer<DaemonLog, never, Redaction> =>
    Layer.unwrapEffect(
      Effect.map(Redaction, (redaction) => {
        const ring: Array<DaemonLogEntryValue> = []
        let count = 0

        const logger = Logger.make<unknown, void>(({ annotations, cause, date, logLevel, message, spans }) => {
          const parts = Arr.ensure(message)
          const texts = parts.filter((part) => typeof part === "string")
          const values = parts.filter((part) => typeof part !== "string")
          const fields: Record<string, unknown> = {}
          for (const [key, value] of HashMap.entries(annotations)) fields[key] = Inspectable.toJSON(value)
          for (const span of List.toArray(spans)) fields[`span.${span.label}`] = date.getTime() - span.startTime
          if (values.length > 0) fields["values"] = values.map(Inspectable.toJSON)
          if (!Cause.isEmpty(cause)) fields["cause"] = causeText(cause)
          const entry: DaemonLogEntryValue = {
            cursor: ++count,
            at: date.toISOString(),
            level: levelOf(logLevel),
            message: redaction.text(texts.join(" ")),
            fields: redacted(redaction, fields)
          }
          ring[(entry.cursor - 1) % RING_MAX] = entry
          const stack = Cause.isEmpty(cause) ? "" : redaction.text(Cause.pretty(cause, { renderErrorCause: true }))
          options.write(options.format === "json" ? jsonLine(entry, stack) : plainLine(entry, stack))
        })

        const read = (page: LogPage) => {
          const logs: Array<DaemonLogEntryValue> = []
          const least = rank(page.level ?? "trace")
          let cursor = Math.max(page.after ?? 0, count - RING_MAX)
          while (cursor < count && logs.length < page.limit) {
            const entry = ring[cursor % RING_MAX]
            cursor++
            if (entry !== undefined && rank(entry.level) >= least) logs.push(entry)
          }
          return cursor < count ? { logs, next: cursor } : { logs }
        }

        return Layer.mergeAll(
          Layer.succeed(DaemonLog, { read }),
          // In place of every other logger: what they wrote would not be redacted.
          Layer.scopedDiscard(Effect.locallyScoped(FiberRef.currentLoggers, HashSet.make(logger))),
          Logger.minimumLogLevel(effectLevels[options.level])
        )
      })
    )
}

const redacted = (redaction: Context.Tag.Service<Redaction>, fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [redaction.text(key), redaction.json(value)]))

const jsonLine = (entry: DaemonLogEntryValue, stack: string) =>
  JSON.stringify({ ...entry, ...(stack === "" ? {} : { stack }) })

const plainLine = (entry: DaemonLogEntryValue, stack: string) => {
  const fields = Object.entries(entry.fields)
    .filter(([key]) => key !== "cause" || stack === "")
    .map(([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
  return `${entry.at} ${entry.level.padEnd(5)} ${entry.message}${fields.join("")}${stack === "" ? "" : `\n${stack}`}`
}
