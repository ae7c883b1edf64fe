import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import { EntryId, ModelName, SessionId, TurnId, TurnMode } from "@harness/protocol"
import { command } from "../command.ts"
import {
  argument,
  connection,
  digitsBetween,
  dollars,
  id,
  json,
  maybeArgument,
  noArguments,
  read,
  server,
  text,
  toggle,
  wholeNumber
} from "../options.ts"

const turnFlags = {
  mode: read("mode", "mode", "agent works, plan and ask only read; agent", TurnMode),
  outputSchema: text("output-schema", "file", "JSON Schema the result has to fit; prints the result alone, as JSON"),
  maxSteps: read("max-steps", "number", "Generations at most; 100", digitsBetween(1, 1000)),
  budgetTokens: read("budget-tokens", "number", "Tokens the turn may take", digitsBetween(1, Number.MAX_SAFE_INTEGER)),
  budgetUsd: read("budget-usd", "dollars", "What the turn may cost", dollars),
  budgetMillis: read("budget-millis", "number", "How long it may take", digitsBetween(1, Number.MAX_SAFE_INTEGER))
}

/** Says something, and shows the answer. */
export const prompt = command({
  name: "prompt",
  about: "Ask something, and see the answer as it comes",
  more: [
    "The answer goes to standard output; thoughts, tools and notices to standard error. Without TEXT, or with `-`,",
    "the prompt is read from standard input. Ctrl-C cancels the turn on the server, a second one leaves at once.",
    "What the turn or a sub-agent of it asks is put to you at the terminal. With no terminal, with --json and with",
    "--unattended it is rejected at once, one line on standard error each, and the end is 1.",
    "Ends with 0 when the turn was completed, 1 when it failed or was cancelled, 130 after Ctrl-C."
  ],
  options: Options.all({
    ...connection,
    server,
    session: read(
      "session",
      "id",
      "Go on with this session, made if it is missing; else a new one",
      id(SessionId)
    ).pipe(Options.withAlias("s")),
    model: read("model", "provider/model", "Model that answers", ModelName).pipe(Options.withAlias("m")),
    agent: text("agent", "name", "Agent that works on it"),
    title: text("title", "text", "Title of a new session"),
    workdir: text("workdir", "folder", "Folder a new session works in, relative to the server's root"),
    ...turnFlags,
    unattended: toggle("unattended", "Reject what the turn asks, as if nobody were there"),
    quiet: toggle("quiet", "Show the answer alone").pipe(Options.withAlias("q")),
    json: toggle("json", 'Print every event as a line of JSON, and errors as {"error": …} on the last line')
  }),
  args: Args.text({ name: "text" }).pipe(Args.withDescription("What to ask"), Args.repeated),
  examples: [
    { line: 'harness prompt "hello"', does: "ask in a new session" },
    { line: 'harness prompt --session work "and now?"', does: "go on with a session" },
    { line: "git diff | harness prompt -q - > review.md", does: "prompt from a pipe, answer to a file" },
    { line: 'harness prompt --mode plan "how would you do it?"', does: "look, and change nothing" },
    {
      line: 'harness prompt --output-schema issues.json "what is wrong here?"',
      does: "an answer that fits a JSON Schema"
    },
    { line: 'harness prompt --json "hello" | jq .type', does: "events for a program" }
  ],
  endsItself: true,
  run: async (options, words) => (await import("../commands/prompt.ts")).prompt(options, words)
})

/** Shows what happens. */
export const watch = command({
  name: "watch",
  about: "See what happens on a server, in a session or in a turn, as it happens",
  more: [
    "Without --after it starts with what happens next (of a turn: with all of it). It connects again by itself when the",
    "server goes away, and misses nothing. A turn's watch ends with the turn, a session's when it is deleted. A session's",
    "also shows what its sub-agents ask, from now on (with --json it does not)."
  ],
  options: Options.all({
    ...connection,
    server,
    session: read("session", "id", "One session alone, with its text as it grows", id(SessionId)).pipe(
      Options.withAlias("s")
    ),
    turn: read("turn", "id", "One turn of --session alone", id(TurnId)),
    after: wholeNumber("after", "position", "Start after this position; 0 is the very beginning"),
    json: toggle("json", 'Print every event as a line of JSON, and errors as {"error": …} on the last line')
  }),
  args: noArguments,
  examples: [
    { line: "harness watch", does: "everything on the server `default`" },
    { line: "harness watch --session work --after 0", does: "a session from its beginning" },
    { line: "harness watch --json | jq -c .type", does: "events for a program" }
  ],
  run: async (options) => (await import("../commands/watch.ts")).watch(options)
})

/** Stops a turn. */
export const cancel = command({
  name: "cancel",
  about: "Stop what a session is doing, or one of its turns",
  options: Options.all({ ...connection, server, reason: text("reason", "text", "Why; it is recorded"), json }),
  args: Args.all({
    session: argument("session", "The session", id(SessionId)),
    turn: maybeArgument("turn", "The turn; else the one that runs", id(TurnId))
  }),
  examples: [
    { line: "harness cancel work", does: "stop the running turn" },
    { line: "harness cancel work turn-7", does: "stop or withdraw one turn" }
  ],
  run: async (options, args) => (await import("../commands/cancel.ts")).cancel(options, args)
})

/** Where things stand. */
export const status = command({
  name: "status",
  about: "Show how the server is, or what a session is doing",
  options: Options.all({ ...connection, server, json }),
  args: maybeArgument("session", "The session; else the server as a whole", id(SessionId)),
  examples: [
    { line: "harness status", does: "release, providers, tools" },
    { line: "harness status work", does: "what a session does and waits on" }
  ],
  run: async (options, session) => (await import("../commands/status.ts")).status(options, session)
})

/** Copies a history. */
export const fork = command({
  name: "fork",
  about: "Copy a session's history, or its beginning, into a new session",
  options: Options.all({
    ...connection,
    server,
    before: read("before", "turn", "Only what came before this turn", id(TurnId)),
    through: read("through", "turn", "Only up to and with this turn", id(TurnId)),
    throughEntry: read("through-entry", "entry", "Only up to and with this entry of the history", id(EntryId)),
    visibility: Options.choice("visibility", ["all", "actor"] as const).pipe(
      Options.withDescription("Entries of everybody, or those its maker may see"),
      Options.optional
    ),
    json
  }),
  args: Args.all({
    session: argument("session", "The session to copy", id(SessionId)),
    fork: maybeArgument("new", "Id of the new session; else one is made up", id(SessionId))
  }),
  examples: [
    { line: "harness fork work idea", does: "copy the whole history" },
    { line: "harness fork work --before turn-7", does: "as it was before a turn" }
  ],
  run: async (options, args) => (await import("../commands/fork.ts")).fork(options, args)
})
