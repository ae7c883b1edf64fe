import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import { Scope, ServerName } from "@harness/protocol"
import { Schema } from "effect"
import { command } from "../command.ts"
import { argument, connection, json, list, noArguments, text } from "../options.ts"

const data = text("data", "folder", "Folder of the databases and tokens; HARNESS_DATA, else ~/.harness")

// The settings are checked in one place, wherever they come from: here they are only text.
const settings = {
  port: text("port", "number", "Port; HARNESS_PORT, else 4700; 0 takes a free one"),
  host: text("host", "address", "Address to listen on; HARNESS_HOST, else 127.0.0.1"),
  data,
  root: text("root", "folder", "Folder sessions may work in; HARNESS_ROOT, else this one"),
  token: text("token", "token", "An admin's token; HARNESS_TOKEN"),
  durability: text("durability", "full|normal", "Whether a commit waits for the disk; HARNESS_DURABILITY, else full"),
  allowedOrigins: text("allowed-origins", "origins", "Web pages that may call, with commas; HARNESS_ALLOWED_ORIGINS"),
  allowedHosts: text("allowed-hosts", "hosts", "Further names of this host, with commas; HARNESS_ALLOWED_HOSTS"),
  allowPrivateUrls: text(
    "allow-private-urls",
    "true|false",
    "Tools may call private addresses; HARNESS_ALLOW_PRIVATE_URLS"
  ),
  model: text("model", "provider/model", "Model of sessions that name none; HARNESS_MODEL"),
  logLevel: text("log-level", "level", "trace, debug, info, warn or error; HARNESS_LOG_LEVEL, else info")
}

const server = command({
  name: "server",
  about: "Start a server on this machine",
  more: [
    "Settings come from these options, then HARNESS_* in the environment, then harness.json in this folder or the data",
    "folder. OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY and OPENAI_BASE_URL connect providers; without one, the",
    "built-in demo model answers. The log goes to standard error. SIGINT and SIGTERM end it in order, a second one at once."
  ],
  options: Options.all(settings),
  args: noArguments,
  examples: [
    { line: "harness server", does: "on http://127.0.0.1:4700, working in this folder" },
    { line: "harness server --port 0 --data ./data", does: "on a free port, with its own data" },
    { line: "OPENAI_API_KEY=… harness server --root ~/code", does: "with a provider, over all of a folder" }
  ],
  endsItself: true,
  run: async (options) => (await import("../commands/server.ts")).server(options)
})

const add = command({
  name: "token add",
  about: "Make a token, and show it this once",
  more: ["It works as soon as a running server has looked at the file again, at the latest after half a second."],
  options: Options.all({
    data,
    scopes: list(
      "scopes",
      "scopes",
      "What it may do, with commas: read, write, approve, admin; read,write,approve",
      Scope
    ),
    servers: list("servers", "names", "Servers it is limited to, with commas; all", ServerName),
    json
  }),
  args: argument("actor", "Whom it is for; recorded with everything done with it", Schema.NonEmptyString),
  examples: [
    { line: "harness token add alice", does: "may read, write and approve everywhere" },
    { line: "harness token add ci --scopes read --servers build", does: "may look at one server" }
  ],
  run: async (options, actor) => (await import("../commands/token.ts")).add(options, actor)
})

const tokens = command({
  name: "token list",
  about: "List the tokens of this machine's data folder, without what is secret",
  options: Options.all({ data, json }),
  args: noArguments,
  examples: [{ line: "harness token list", does: "list them" }],
  run: async (options) => (await import("../commands/token.ts")).list(options)
})

const revoke = command({
  name: "token revoke",
  about: "Make a token worth nothing",
  options: Options.all({ data, json }),
  args: Args.text({ name: "id" }).pipe(Args.withDescription("Its id, as `token list` shows it")),
  examples: [{ line: "harness token revoke tok_01J…", does: "nobody gets in with it any more" }],
  run: async (options, id) => (await import("../commands/token.ts")).revoke(options, id)
})

const openapi = command({
  name: "openapi",
  about: "Print the API as OpenAPI 3.1; no server is needed",
  options: Options.all({ json }),
  args: noArguments,
  examples: [{ line: "harness openapi > openapi.json", does: "for generators and readers" }],
  run: async () => (await import("../commands/openapi.ts")).openapi
})

const doctor = command({
  name: "doctor",
  about: "Find out what is missing, line by line",
  options: Options.all({ ...connection, data, json }),
  args: noArguments,
  examples: [{ line: "harness doctor", does: "check this machine and its server" }],
  run: async (options) => (await import("../commands/doctor.ts")).doctor(options)
})

/** This machine: its server, tokens and health. */
export const machineCommands = { server, tokens: [add, tokens, revoke], openapi, doctor }
