import type { HookResponseValue, WebhookResponseValue } from "@harness/protocol"
import type { Style } from "./style.ts"
import { columns, oneLine } from "./text.ts"

const rows = (style: Style, lines: ReadonlyArray<readonly [string, string]>): string =>
  lines.map(([name, value]) => `${style.dim(name.padEnd(10))}${value}\n`).join("")

const secretRow = (secret: string | undefined): ReadonlyArray<readonly [string, string]> =>
  secret === undefined ? [] : [["secret", secret]]

/** Under a secret that was made up. */
export const secretText = (style: Style): string => `${style.dim("the secret is not shown again")}\n`

/** A hook. */
export const hookText = (hook: HookResponseValue, style: Style): string =>
  rows(style, [
    ["hook", style.bold(hook.hookId)],
    ["point", hook.point],
    ["to", oneLine(hook.url, 400)],
    ...(hook.functions === undefined ? [] : [["functions", oneLine(hook.functions.join(", "), 400)] as const]),
    ["priority", String(hook.priority)],
    ["timeout", `${hook.timeoutMillis} ms, then ${hook.onError}`],
    ...secretRow(hook.secret)
  ])

/** Hooks, one to a line. */
export const hookTable = (hooks: ReadonlyArray<HookResponseValue>, style: Style): string =>
  columns(
    hooks.map(({ functions, hookId, onError, point, priority, url }) => [
      hookId,
      point,
      String(priority),
      onError,
      oneLine((functions ?? ["*"]).join(","), 60),
      oneLine(url, 200)
    ])
  )
    .map(([id = "", ...cells]) => `${[style.bold(id), ...cells].join("  ")}\n`)
    .join("")

const eventsOf = ({ events }: WebhookResponseValue) => (events ?? ["all"]).join(",")
const filterOf = ({ parentSessionId, sessionId }: WebhookResponseValue) =>
  [
    ...(sessionId === undefined ? [] : [`session ${sessionId}`]),
    ...(parentSessionId === undefined ? [] : [`spawned by ${parentSessionId}`])
  ].join(", ")

/** A webhook. */
export const webhookText = (webhook: WebhookResponseValue, style: Style): string => {
  const filter = filterOf(webhook)
  return rows(style, [
    ["webhook", style.bold(webhook.webhookId)],
    ["to", oneLine(webhook.url, 400)],
    ["events", eventsOf(webhook)],
    ...(filter === "" ? [] : [["only", filter] as const]),
    ...secretRow(webhook.secret)
  ])
}

/** Webhooks, one to a line. */
export const webhookTable = (webhooks: ReadonlyArray<WebhookResponseValue>, style: Style): string =>
  columns(webhooks.map((one) => [one.webhookId, eventsOf(one), filterOf(one), oneLine(one.url, 200)]))
    .map(([id = "", ...cells]) => `${[style.bold(id), ...cells].join("  ")}\n`)
    .join("")
