import type { SessionAgentEntryValue } from "@harness/protocol"
import type { Style } from "./style.ts"
import { columns, oneLine } from "./text.ts"

/** Agents, one to a line. */
export const agentTable = (agents: ReadonlyArray<SessionAgentEntryValue>, style: Style): string =>
  columns(
    agents.map(({ description, mode, model, name, source }) => [
      oneLine(name, 64),
      mode,
      oneLine(model ?? "-", 64),
      oneLine(source, 120),
      oneLine(description, 160)
    ])
  )
    .map(([name = "", mode = "", model = "", source = "", about = ""]) =>
      [style.bold(name), mode, style.dim(model), style.dim(source), about].join("  ").trimEnd()
    )
    .map((line) => `${line}\n`)
    .join("")
