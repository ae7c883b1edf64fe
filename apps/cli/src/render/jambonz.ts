import type { AgentVerb } from "@harness/protocol/jambonz"
import type { Style } from "./style.ts"

/** What jambonz is told of this harness. No secret: none is asked for. */
export interface JambonzEntries {
  readonly url: string
  readonly subprotocol: string
  readonly secret: { readonly variable: string; readonly value?: string } | null
  readonly application: { readonly webhook: string; readonly socket: string; readonly subprotocol: string }
  readonly verb: AgentVerb
}

const secretWords = ({ secret }: JambonzEntries): string => {
  if (secret === null) return "none: leave it empty, and let only this machine reach the server"
  return secret.value ?? `the value of ${secret.variable}`
}

/** The entries under the names of the places they go to. */
export const entriesText = (entries: JambonzEntries, style: Style): string => {
  const row = (name: string, value: string) => `  ${style.dim(name.padEnd(13))}${value}\n`
  const { application, secret, subprotocol, url, verb } = entries
  const password = secret === null ? "" : " (basic auth: any user, the secret as password; or signed)"
  return [
    `${style.bold("Harness credential")} of the account\n`,
    row("url", style.cyan(url)),
    row("secret", secretWords(entries)),
    row("subprotocol", subprotocol),
    `${style.bold("Application")} of a phone number, this server itself${password}\n`,
    row("webhook", `POST ${application.webhook}`),
    row("or socket", `${application.socket} ${style.dim(`(${application.subprotocol})`)}`),
    `${style.bold("Verb")} for an application of your own\n`,
    `${JSON.stringify([verb], null, 2)}\n`
  ].join("")
}

const privateHost = /^(localhost|10\.|127\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|\[f[cd])/

/** What would keep calls from getting here. */
export const warningsText = (
  at: { readonly base: string; readonly isHere: boolean; readonly hasSecret: boolean },
  style: Style
): string => {
  const { host, hostname, protocol } = new URL(at.base)
  const isSecure = protocol === "https:" || protocol === "wss:"
  const warnings = [
    ...(isSecure || privateHost.test(hostname)
      ? []
      : ["jambonz takes ws:// only on a private network: put TLS in front, and name it with --base https://…"]),
    ...(at.isHere
      ? ["jambonz is hardly on this machine: --base names the address at which it reaches the server"]
      : [`the server must know this name: HARNESS_ALLOWED_HOSTS=${host}`]),
    ...(at.hasSecret || at.isHere ? [] : ["without HARNESS_JAMBONZ_SECRET whoever knows the address can call"])
  ]
  return warnings.map((warning) => `${style.yellow("!")} ${warning}\n`).join("")
}
