import type { Command } from "./command.ts"
import { machineCommands } from "./definitions/machine.ts"
import { sessionCommands } from "./definitions/sessions.ts"
import { cancel, fork, prompt, status, watch } from "./definitions/talk.ts"

/** Everything the program can do, in the order it is shown. What a command does is only loaded when it runs. */
export const commands: ReadonlyArray<Command> = [
  machineCommands.server,
  prompt,
  watch,
  status,
  cancel,
  fork,
  ...sessionCommands,
  ...machineCommands.tokens,
  machineCommands.doctor,
  machineCommands.openapi
]
