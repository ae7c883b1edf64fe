import type { RunningServer } from "@harness/server"
import type { Style } from "./style.ts"

/** What a person wants to know of a server that has just started. The address comes first and alone on its line. */
export const serverLines = (server: RunningServer, pid: number, style: Style): string => {
  const row = (name: string, value: string) => `  ${style.dim(name.padEnd(7))}${value}\n`
  const models =
    server.providers.length === 0
      ? `${server.defaultModel} ${style.dim("(built in; set OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY or OPENAI_BASE_URL to connect a provider)")}`
      : `${server.providers.join(", ")} ${style.dim(`(default ${server.defaultModel})`)}`
  return [
    `${style.bold("harness")} is listening on ${style.cyan(server.url)}\n`,
    row("data", server.data),
    row("root", server.root),
    row("token", `${server.tokenFile} ${style.dim("(commands on this machine find it)")}`),
    row("models", models),
    row("stop", `Ctrl-C, or SIGTERM to ${pid}`)
  ].join("")
}
