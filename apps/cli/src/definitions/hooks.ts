import * as Options from "@effect/cli/Options"
import { HookId, HookOnError, HookPoint, SessionId, WebhookEvent, WebhookId } from "@harness/protocol"
import { Schema } from "effect"
import { command } from "../command.ts"
import {
  argument,
  connection,
  digitsBetween,
  id,
  json,
  list,
  noArguments,
  read,
  required,
  server,
  text,
  wholeNumber
} from "../options.ts"

const common = { ...connection, server, json }
const page = {
  limit: wholeNumber("limit", "number", "At most so many; 100"),
  after: text("after", "id", "Go on after this one, the last of the page before")
}
const hook = argument("hook", "Its id", id(HookId))
const webhook = argument("webhook", "Its id", id(WebhookId))
const secret = text("secret", "text", "What requests are signed with; else one is made up, and shown this once")
const priority = Schema.NumberFromString.pipe(Schema.int()).annotations({ description: "a whole number" })
const listHooks = command({
  name: "hooks list",
  about: "List the hooks of a server: who has a say in its turns",
  options: Options.all({ ...common, ...page }),
  args: noArguments,
  examples: [{ line: "harness hooks", does: "list them" }],
  run: async (options) => (await import("../commands/hooks.ts")).list(options)
})

const setHook = command({
  name: "hooks set",
  about: "Set a hook, or replace it whole",
  more: [
    "It is asked by a signed POST at its point of every turn, in order of priority; pre-tool hooks may deny a call."
  ],
  options: Options.all({
    ...common,
    point: required(
      "point",
      read("point", "point", "When: pre-turn, pre-generate, post-generate, pre-tool or post-tool", HookPoint)
    ),
    to: required("to", text("to", "url", "Whom to ask")),
    functions: list("functions", "globs", "Only for tools of these names, with commas; all", Schema.NonEmptyString),
    priority: read("priority", "number", "Lower ones are asked first; 0", priority),
    timeoutMillis: read("timeout-millis", "number", "How long it may take; 5000", digitsBetween(1, 600_000)),
    onError: read("on-error", "way", "fail_closed or fail_open, when it does not answer", HookOnError),
    secret
  }),
  args: hook,
  examples: [
    {
      line: "harness hooks set guard --point pre-tool --to https://example.com/guard --functions shell",
      does: "ask before shells"
    }
  ],
  run: async (options, id) => (await import("../commands/hooks.ts")).set(options, id)
})

const removeHook = command({
  name: "hooks remove",
  about: "Take a hook away",
  options: Options.all(common),
  args: hook,
  examples: [{ line: "harness hooks remove guard", does: "it is asked no more" }],
  run: async (options, id) => (await import("../commands/hooks.ts")).remove(options, id)
})

const listWebhooks = command({
  name: "webhooks list",
  about: "List the webhooks of a server: who is told when turns start and end",
  options: Options.all({ ...common, ...page }),
  args: noArguments,
  examples: [{ line: "harness webhooks", does: "list them" }],
  run: async (options) => (await import("../commands/webhooks.ts")).list(options)
})

const setWebhook = command({
  name: "webhooks set",
  about: "Set a webhook, or replace it whole",
  options: Options.all({
    ...common,
    to: required("to", text("to", "url", "Whom to tell")),
    events: list("events", "events", "Only of these, with commas: turn.started, turn.completed; all", WebhookEvent),
    session: read("session", "id", "Only of this session", id(SessionId)).pipe(Options.withAlias("s")),
    parent: read("parent", "id", "Only of what this session spawned", id(SessionId)),
    secret
  }),
  args: webhook,
  examples: [
    {
      line: "harness webhooks set ci --to https://example.com/turns --events turn.completed",
      does: "tell of every end"
    }
  ],
  run: async (options, id) => (await import("../commands/webhooks.ts")).set(options, id)
})

const removeWebhook = command({
  name: "webhooks remove",
  about: "Take a webhook away, and what it has not delivered",
  options: Options.all(common),
  args: webhook,
  examples: [{ line: "harness webhooks remove ci", does: "it is told no more" }],
  run: async (options, id) => (await import("../commands/webhooks.ts")).remove(options, id)
})

const redeliver = command({
  name: "webhooks redeliver",
  about: "Deliver once more what happened after a position of the server",
  options: Options.all({
    ...common,
    after: wholeNumber("after", "position", "The server's position; 0 is the beginning")
  }),
  args: webhook,
  examples: [{ line: "harness webhooks redeliver ci --after 120", does: "everything since then" }],
  run: async (options, id) => (await import("../commands/webhooks.ts")).redeliver(options, id)
})

/** Who is asked, and who is told. */
export const hookCommands = [listHooks, setHook, removeHook, listWebhooks, setWebhook, removeWebhook, redeliver]
