import type { Command, DescribedOption, Example } from "../command.ts"
import type { Style } from "./style.ts"
import { columns } from "./text.ts"

const GLOBAL = new Set(["--url", "--token"])

const optionName = ({ names, value }: DescribedOption): string => {
  const [long, ...short] = names
  return `${short.length === 0 ? "    " : `${short.join(", ")}, `}${long}${value === undefined ? "" : ` ${value}`}`
}

const section = (style: Style, title: string, rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> =>
  rows.length === 0
    ? []
    : [
        "",
        style.bold(title),
        ...columns(rows.map(([name, about]) => [`  ${name}`, about])).map((row) => row.join("  "))
      ]

const examplesOf = (style: Style, examples: ReadonlyArray<Example>): ReadonlyArray<string> => [
  "",
  style.bold("Examples"),
  ...columns(examples.map(({ does, line }) => [`  ${line}`, does])).map(
    ([line = "", does = ""]) => `${line}  ${style.dim(does)}`
  )
]

const optionRows = (options: ReadonlyArray<DescribedOption>) =>
  options.map(
    (option) => [optionName(option), option.repeated ? `${option.about} (again for more)` : option.about] as const
  )

const builtInRows = [["-h, --help", "Show this help"] as const]

/** How to use one command. */
export const commandHelp = (command: Command, style: Style): string => {
  const words = command.args.map(({ name }) => name).join(" ")
  const own = command.options.filter(({ names }) => !GLOBAL.has(names[0]))
  const shared = command.options.filter(({ names }) => GLOBAL.has(names[0]))
  return [
    `${style.bold("Usage")}  harness ${command.name}${words === "" ? "" : ` ${words}`} [options]`,
    "",
    command.about,
    ...(command.more.length === 0 ? [] : ["", ...command.more]),
    ...section(
      style,
      "Arguments",
      command.args.map(({ about, name }) => [name, about])
    ),
    ...section(style, "Options", [...optionRows(own), ...builtInRows]),
    ...section(style, "Server", optionRows(shared)),
    ...examplesOf(style, command.examples),
    ""
  ].join("\n")
}

const rowsOf = (commands: ReadonlyArray<Command>) =>
  commands.map((command) => [[command.name, ...command.args.map(({ name }) => name)].join(" "), command.about] as const)

/** The commands of a group. */
export const groupHelp = (group: string, commands: ReadonlyArray<Command>, style: Style): string =>
  [
    `${style.bold("Usage")}  harness ${group} [command] [options]`,
    ...section(style, "Commands", rowsOf(commands)),
    ...examplesOf(
      style,
      commands.flatMap(({ examples }) => examples.slice(0, 1))
    ),
    "",
    `\`harness ${group} list\` is meant when no command is named. \`harness ${group} COMMAND --help\` says more.`,
    ""
  ].join("\n")

const first: ReadonlyArray<Example> = [
  { line: "harness server", does: "start a server on this machine" },
  { line: 'harness prompt "hello"', does: "ask, and see the answer as it comes" },
  { line: "harness watch", does: "see everything that happens, as it happens" },
  { line: "harness doctor", does: "find out what is missing" }
]

/** What the program can do. */
export const programHelp = (commands: ReadonlyArray<Command>, version: string, style: Style): string =>
  [
    `${style.bold("harness")} ${version} runs agents: sessions, turns, forks, and streams of what they do.`,
    "",
    `${style.bold("Usage")}  harness <command> [options]`,
    ...section(style, "Commands", rowsOf(commands)),
    ...section(style, "Every command", [
      ...builtInRows,
      ["-V, --version", "Show the version"],
      ["    --url <url>", "Address of the server; HARNESS_URL, else http://127.0.0.1:4700"],
      ["    --token <token>", "Who asks; HARNESS_TOKEN, else the token in this machine's data folder"]
    ]),
    ...examplesOf(style, first),
    "",
    "`harness COMMAND --help` says more about one. NO_COLOR turns colours off.",
    ""
  ].join("\n")
