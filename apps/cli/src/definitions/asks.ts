import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import { SessionId } from "@harness/protocol"
import { Schema } from "effect"
import { command } from "../command.ts"
import { argument, connection, id, json, maybeArgument, read, server, text, toggle, wholeNumber } from "../options.ts"

const common = { ...connection, server, json }
const session = argument("session", "The session", id(SessionId))
const scope = read("session", "id", "Look in this session and below it; else on the whole server", id(SessionId)).pipe(
  Options.withAlias("s")
)
const request = maybeArgument("request", "Its id; else the only one that is open", Schema.NonEmptyString)

const which = [
  "Without REQUEST it acts on the only open one; when there are several it lists them, whole, and does nothing.",
  "What sub-agents ask is found through the session that started them."
]

/** Lets a call run. */
export const approve = command({
  name: "approve",
  about: "Allow what a turn asks for, this once or always",
  more: which,
  options: Options.all({
    ...common,
    session: scope,
    always: toggle("always", "Allow the same in this session from now on; `harness grants` shows it")
  }),
  args: request,
  examples: [
    { line: "harness approve --session work", does: "allow the one thing that is asked" },
    { line: "harness approve req_01J… --always", does: "allow it, and do not ask for the same again" }
  ],
  run: async (options, id) => (await import("../commands/approve.ts")).approve(options, id)
})

/** Keeps a call from running. */
export const deny = command({
  name: "deny",
  about: "Reject what a turn asks for; the turn goes on without it",
  more: which,
  options: Options.all({ ...common, session: scope, message: text("message", "text", "Why; the model is told") }),
  args: request,
  examples: [
    { line: "harness deny --session work", does: "reject the one thing that is asked" },
    { line: 'harness deny req_01J… --message "use npm ci"', does: "reject it, and say why" }
  ],
  run: async (options, id) => (await import("../commands/approve.ts")).deny(options, id)
})

/** Answers what an agent wants to know. */
export const answer = command({
  name: "answer",
  about: "Answer what a turn wants to know, or close the question",
  more: [
    "The first word is the question's id if it looks like one (que_…); else the only open question is meant. Options are",
    "named by number or label, several with commas. Where one thing is asked, all words are its answer; else one each.",
    "Without an ANSWER it asks at the terminal."
  ],
  options: Options.all({ ...common, session: scope, reject: toggle("reject", "Close it without an answer") }),
  args: Args.all({
    question: maybeArgument("question", "Its id; else the only one that is open", Schema.NonEmptyString),
    answers: Args.text({ name: "answer" }).pipe(Args.withDescription("What to answer"), Args.repeated)
  }),
  examples: [
    { line: "harness answer --session work", does: "be asked at the terminal" },
    { line: "harness answer que_01J… 2", does: "choose the second option" },
    { line: "harness answer -s work --reject", does: "give no answer" }
  ],
  run: async (options, { answers, question }) =>
    (await import("../commands/answer.ts")).answer(options, question === undefined ? answers : [question, ...answers])
})

const grants = command({
  name: "grants list",
  about: "List what is allowed in a session because somebody said always",
  options: Options.all({
    ...common,
    limit: wholeNumber("limit", "number", "At most so many; 100"),
    after: text("after", "id", "Go on after this one, the last of the page before")
  }),
  args: session,
  examples: [{ line: "harness grants work", does: "list them" }],
  run: async (options, id) => (await import("../commands/grants.ts")).list(options, id)
})

const removeGrant = command({
  name: "grants remove",
  about: "Take a grant back: from the next call on it is asked again",
  options: Options.all(common),
  args: Args.all({ session, grant: argument("grant", "Its id, as `grants list` shows it", Schema.NonEmptyString) }),
  examples: [{ line: "harness grants remove work grt_01J…", does: "ask again" }],
  run: async (options, args) => (await import("../commands/grants.ts")).remove(options, args)
})

/** What was allowed for good. */
export const grantCommands = [grants, removeGrant]
