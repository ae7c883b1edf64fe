import type { Command } from "./command.ts"
import { answer, approve, deny, grantCommands } from "./definitions/asks.ts"
import { call } from "./definitions/call.ts"
import { hookCommands } from "./definitions/hooks.ts"
import { jambonz } from "./definitions/jambonz.ts"
import { machineCommands } from "./definitions/machine.ts"
import { sessionCommands } from "./definitions/sessions.ts"
import { cancel, fork, prompt, status, watch } from "./definitions/talk.ts"
import { agents, background, compact } from "./definitions/work.ts"

/** Everything the program can do, in the order it is shown. What a command does is only loaded when it runs. */
export const commands: ReadonlyArray<Command> = [
  machineCommands.server,
  prompt,
  watch,
  status,
  cancel,
  approve,
  deny,
  answer,
  ...grantCommands,
  fork,
  compact,
  background,
  call,
  ...sessionCommands,
  agents,
  ...hookCommands,
  jambonz,
  ...machineCommands.tokens,
  machineCommands.doctor,
  machineCommands.openapi
]
