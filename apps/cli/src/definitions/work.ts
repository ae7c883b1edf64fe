import * as Options from "@effect/cli/Options"
import { SessionId } from "@harness/protocol"
import { command } from "../command.ts"
import { argument, connection, id, json, server, text } from "../options.ts"

const common = { ...connection, server, json }
const session = argument("session", "The session", id(SessionId))

/** Who can work in a session. */
export const agents = command({
  name: "agents",
  about: "List the agents a session can be given, and the files that could not be read",
  options: Options.all(common),
  args: session,
  examples: [{ line: "harness agents work", does: "built-in ones, and those of .harness/agents" }],
  run: async (options, id) => (await import("../commands/agents.ts")).agents(options, id)
})

/** Shortens what the model is sent. */
export const compact = command({
  name: "compact",
  about: "Let a summary stand for the head of a session's history, and wait for it",
  more: ["It starts between turns. Ctrl-C stops it, and the history stays as it was; so it does when it fails."],
  options: Options.all({
    ...common,
    instructions: text("instructions", "text", "What the summary should keep")
  }),
  args: session,
  examples: [
    { line: "harness compact work", does: "summarise, and say what that saved" },
    { line: 'harness compact work --instructions "keep every file name"', does: "and say what matters" }
  ],
  endsItself: true,
  run: async (options, id) => (await import("../commands/compact.ts")).compact(options, id)
})

/** Stops waiting for sub-agents. */
export const background = command({
  name: "background",
  about: "Let the sub-agents a session waits for go on by themselves",
  more: ["The turn goes on at once; each result comes later, as a prompt of its own."],
  options: Options.all(common),
  args: session,
  examples: [{ line: "harness background work", does: "wait for them no longer" }],
  run: async (options, id) => (await import("../commands/background.ts")).background(options, id)
})
