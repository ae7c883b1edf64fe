import type {
  CapabilitiesResponseValue,
  HealthResponseValue,
  Session,
  SessionStatusResponseValue
} from "@harness/protocol"
import type { Style } from "./style.ts"
import { columns, count, oneLine } from "./text.ts"

const rows = (style: Style, lines: ReadonlyArray<readonly [string, string]>): string =>
  lines.map(([name, value]) => `${style.dim(name.padEnd(10))}${value}\n`).join("")

const painted = (state: Session["state"], style: Style) =>
  state === "running" ? style.green : state === "waiting" ? style.yellow : style.dim

/** Sessions, one to a line. */
export const sessionTable = (sessions: ReadonlyArray<Session>, style: Style): string =>
  columns(
    sessions.map((one) => [one.sessionId, one.createdAt, one.state, one.model, one.workdir, oneLine(one.title, 60)])
  )
    .map(([id = "", at = "", state = "", model = "", workdir = "", title = ""], index) => {
      const paint = painted(sessions[index]?.state ?? "idle", style)
      return `${[style.bold(id), style.dim(at), paint(state), model, workdir, title].join("  ").trimEnd()}\n`
    })
    .join("")

const originOf = ({ forkedFrom, spawnedFrom }: Session): ReadonlyArray<readonly [string, string]> => [
  ...(forkedFrom === undefined ? [] : [["fork of", forkedFrom.sessionId] as const]),
  ...(spawnedFrom === undefined ? [] : [["spawned by", `${spawnedFrom.sessionId} ${spawnedFrom.turnId}`] as const])
]

/** A session. */
export const sessionText = (session: Session, style: Style): string =>
  rows(style, [
    ["session", style.bold(session.sessionId)],
    ["server", session.server],
    ...(session.title === "" ? [] : [["title", oneLine(session.title, 200)] as const]),
    ["state", painted(session.state, style)(session.state)],
    ["workdir", session.workdir],
    ["model", session.model],
    ["agent", session.agent],
    ["cursor", String(session.cursor)],
    ...originOf(session),
    ["created", session.createdAt]
  ])

/** What an ask is about, by its id. */
export type AskTitles = ReadonlyMap<string, string>

/** What a session is doing. `titles`: what is known of the asks in it and below it. */
export const statusText = (status: SessionStatusResponseValue, style: Style, titles: AskTitles = new Map()): string =>
  rows(style, [
    ["state", painted(status.state, style)(status.state)],
    ...(status.activeTurnId === undefined ? [] : [["turn", `${status.activeTurnId}, step ${status.step}`] as const]),
    ...(status.lastTurnId === undefined ? [] : [["last turn", status.lastTurnId] as const]),
    ["turns", `${status.turnCount}, ${status.queued} queued`],
    ...status.waitingOn.map(({ id, kind }, at) => {
      const title = titles.get(id)
      return [
        at === 0 ? "waits on" : "",
        `${kind} ${id}${title === undefined ? "" : ` ${style.yellow(title)}`}`
      ] as const
    }),
    ...[...titles].flatMap(([id, title]) =>
      status.waitingOn.some((one) => one.id === id) ? [] : [["below", `${id} ${style.yellow(title)}`] as const]
    ),
    ...(status.pendingCalls.length === 0 ? [] : [["calls", status.pendingCalls.join(", ")] as const]),
    ...(status.children.length === 0
      ? []
      : [["children", status.children.map(({ sessionId }) => sessionId).join(", ")] as const])
  ])

/** How long something has been there. */
export const durationText = (millis: number): string => {
  const seconds = Math.floor(millis / 1000)
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60
  ]
  if (days > 0) return `${count(days, "day")} ${count(hours, "hour")}`
  if (hours > 0) return `${count(hours, "hour")} ${count(minutes, "minute")}`
  return minutes > 0 ? `${count(minutes, "minute")} ${count(seconds % 60, "second")}` : count(seconds, "second")
}

/** How a server is. */
export const serverText = (
  url: string,
  health: HealthResponseValue,
  can: CapabilitiesResponseValue,
  style: Style
): string =>
  rows(style, [
    ["server", style.bold(url)],
    ["state", style.green(health.status)],
    ["release", `${health.release}, protocol ${health.protocol}`],
    ["up for", durationText(health.uptimeMillis)],
    ["providers", can.providers.join(", ")],
    ["tools", can.tools.join(", ")],
    ["storage", can.storage]
  ])
