import * as Options from "@effect/cli/Options"
import { Schema } from "effect"
import { command } from "../command.ts"
import { connection, json, noArguments, read, server, text, toggle } from "../options.ts"

const Base = Schema.String.pipe(
  Schema.filter((url) => URL.canParse(url) && /^(http|ws)s?:$/.test(new URL(url).protocol), {
    description: "an address that begins with https:// or http://"
  })
)

/** What jambonz is to be told of this harness. */
export const jambonz = command({
  name: "jambonz",
  about: "Print what to enter at jambonz so that its calls come here",
  more: [
    "Nothing is sent. The secret is the one in this environment, where the server's should be too; it is named, not shown.",
    "An application of your own runs the verb; without one, let a phone number's application be this server itself."
  ],
  options: Options.all({
    url: connection.url,
    server,
    agent: text("agent", "name", "Agent that answers; else the one that the verb's metadata names, else general"),
    base: read(
      "base",
      "url",
      "Address at which jambonz reaches this server, of a tunnel for example; else --url",
      Base
    ),
    showSecret: toggle("show-secret", "Show the secret itself"),
    json
  }),
  args: noArguments,
  examples: [
    { line: "harness jambonz --agent desk --base https://harness.example", does: "for calls that desk answers" },
    { line: "harness jambonz --agent desk --json", does: "for a program that sets jambonz up" }
  ],
  run: async (options) => (await import("../commands/jambonz.ts")).jambonz(options)
})
