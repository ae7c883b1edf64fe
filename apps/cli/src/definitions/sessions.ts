import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import { ModelName, SessionId, SessionState, TurnId } from "@harness/protocol"
import { Schema } from "effect"
import { command } from "../command.ts"
import {
  argument,
  connection,
  id,
  json,
  maybeArgument,
  noArguments,
  read,
  server,
  text,
  wholeNumber
} from "../options.ts"

const common = { ...connection, server, json }
const page = {
  limit: wholeNumber("limit", "number", "At most so many; 100"),
  after: text("after", "id", "Go on after this one, the last of the page before")
}
const session = argument("session", "The session", id(SessionId))

const list = command({
  name: "sessions list",
  about: "List the sessions of a server, oldest first",
  options: Options.all({
    ...common,
    ...page,
    state: read("state", "state", "Only those that are idle, running or waiting", SessionState)
  }),
  args: noArguments,
  examples: [
    { line: "harness sessions", does: "list them" },
    { line: "harness sessions --state running --json", does: "those at work, for a program" }
  ],
  run: async (options) => (await import("../commands/sessions.ts")).list(options)
})

const get = command({
  name: "sessions get",
  about: "Show a session",
  options: Options.all(common),
  args: session,
  examples: [{ line: "harness sessions get work", does: "show it" }],
  run: async (options, id) => (await import("../commands/sessions.ts")).get(options, id)
})

const create = command({
  name: "sessions create",
  about: "Make a session",
  options: Options.all({
    ...common,
    title: text("title", "text", "Its title"),
    workdir: text("workdir", "folder", "Folder it works in, relative to the server's root"),
    model: read("model", "provider/model", "Model that answers", ModelName).pipe(Options.withAlias("m")),
    agent: text("agent", "name", "Agent that works"),
    systemPrompt: text("system-prompt", "text", "What the model is told before everything else")
  }),
  args: maybeArgument("session", "Its id; else one is made up", id(SessionId)),
  examples: [
    { line: "harness sessions create work --title Work", does: "make it, or show the one made before" },
    { line: "harness sessions create --model openai/gpt-5", does: "make one under a new id" }
  ],
  run: async (options, id) => (await import("../commands/sessions.ts")).create(options, id)
})

const rename = command({
  name: "sessions rename",
  about: "Give a session another title",
  options: Options.all(common),
  args: Args.all({ session, title: argument("title", "The new title", Schema.String) }),
  examples: [{ line: 'harness sessions rename work "Work, continued"', does: "change its title" }],
  run: async (options, args) => (await import("../commands/sessions.ts")).rename(options, args)
})

const remove = command({
  name: "sessions delete",
  about: "Delete a session and the ones it spawned; forks stay",
  options: Options.all({ ...common, reason: text("reason", "text", "Why; it is recorded") }),
  args: session,
  examples: [{ line: "harness sessions delete work", does: "delete it for good" }],
  run: async (options, id) => (await import("../commands/sessions.ts")).remove(options, id)
})

const turns = command({
  name: "turns list",
  about: "List the turns of a session, oldest first",
  options: Options.all({
    ...common,
    ...page,
    before: text("before", "id", "Those before this one")
  }),
  args: session,
  examples: [{ line: "harness turns work", does: "list them" }],
  run: async (options, id) => (await import("../commands/turns.ts")).list(options, id)
})

const turn = command({
  name: "turns get",
  about: "Show a turn with all it did",
  options: Options.all(common),
  args: Args.all({ session, turn: argument("turn", "The turn", id(TurnId)) }),
  examples: [{ line: "harness turns get work turn-7", does: "show it" }],
  run: async (options, args) => (await import("../commands/turns.ts")).get(options, args)
})

/** Sessions and their turns. */
export const sessionCommands = [list, get, create, rename, remove, turns, turn]
