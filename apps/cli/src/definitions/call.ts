import * as Options from "@effect/cli/Options"
import { command } from "../command.ts"
import { amountUpTo, connection, json, noArguments, read, server, text } from "../options.ts"

/** The other side of a phone call. */
export const call = command({
  name: "call",
  about: "Talk to an agent as if on the phone",
  more: [
    "Plays jambonz and the caller. At a terminal, Enter ends what you say, and typing while the agent speaks interrupts it;",
    "`/press 12#` presses keys, Ctrl-D hangs up. From a pipe each line is said when it is your turn. --script plays a call",
    "from a file and shows every frame. Ends with 1 when the call failed or the harness broke a rule of the protocol."
  ],
  options: Options.all({
    url: connection.url,
    server,
    agent: text("agent", "name", "Agent that answers; else the server's own choice"),
    secret: text("secret", "secret", "The secret of the voice route; HARNESS_JAMBONZ_SECRET"),
    script: text("script", "file", "Play this call: JSON with `steps`, and `call` for what is special about it"),
    rate: read("rate", "words", "Words a second the agent speaks at; 3", amountUpTo(1000)),
    speed: read("speed", "factor", "How much faster than life everybody but the harness is; 1", amountUpTo(1000)),
    json
  }),
  args: noArguments,
  examples: [
    { line: "harness call --agent desk", does: "pick up the phone" },
    { line: 'echo "When are you open?" | harness call', does: "ask one thing, and hang up after the answer" },
    { line: "harness call --script call.json --speed 10", does: "play a call, ten times as fast" }
  ],
  endsItself: true,
  run: async (options) => (await import("../commands/call.ts")).call(options)
})
