import { ModelName, PermissionRule, schemaIssues, TurnMode } from "@harness/protocol"
import { Either, Option, Schema } from "effect"
import { LineCounter, parseDocument } from "yaml"
import { GENERAL_TOOLS, validateLayer } from "../permissions/policy.ts"
import { GENERAL_RULES } from "../permissions/rules.ts"
import { VoiceSettings } from "../voice/VoiceSettings.ts"
import { type Agent, BUILT_IN } from "./Agent.ts"

/** Not in the library's default of 100: an agent's front matter has no use for more. */
const ALIASES_MAX = 10

const Globs = Schema.Array(Schema.NonEmptyString)

/** What an agent's file says before its prompt. Unknown keys are refused: `tool:` for `tools:` would widen it unseen. */
const FrontMatter = Schema.Struct({
  /** As the file is called, if it says so at all. */
  name: Schema.optional(Schema.String),
  description: Schema.NonEmptyString,
  model: Schema.optional(ModelName),
  tools: Schema.optional(
    Schema.Union(Globs, Schema.Struct({ allow: Schema.optional(Globs), deny: Schema.optional(Globs) }))
  ),
  permissions: Schema.optional(Schema.Array(PermissionRule)),
  mode: Schema.optional(TurnMode),
  steps: Schema.optional(Schema.Int.pipe(Schema.positive())),
  voice: Schema.optional(VoiceSettings),
  prompt: Schema.optional(Schema.String)
}).annotations({ identifier: "AgentFrontMatter", parseOptions: { errors: "all", onExcessProperty: "error" } })
type FrontMatter = typeof FrontMatter.Type

const decode = Schema.decodeUnknownEither(FrontMatter)
const fileName = /^([A-Za-z0-9][A-Za-z0-9._-]{0,127})\.md$/
const fence = /^---[ \t]*$/
const takenNames = new Set(BUILT_IN.map(({ name }) => name))

interface Split {
  readonly yaml: string
  readonly body: string
}

const split = (text: string): Either.Either<Split, string> => {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  if (text.trim() === "") return Either.left("is empty")
  if (!fence.test(lines[0] ?? "")) return Either.left("has no front matter: its first line must be ---")
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line))
  if (end < 0) return Either.left("has front matter without an end: a line --- is missing")
  return Either.right({
    yaml: lines.slice(1, end).join("\n"),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim()
  })
}

/** The line is the file's: the fence comes before the front matter. */
const parseYaml = (yaml: string): Either.Either<unknown, string> => {
  const lineCounter = new LineCounter()
  const document = parseDocument(yaml, { lineCounter, logLevel: "silent" })
  const [error] = document.errors
  if (error !== undefined) {
    return Either.left(
      `has front matter that is not YAML, at line ${lineCounter.linePos(error.pos[0]).line + 1}: ${error.code.toLowerCase().replaceAll("_", " ")}`
    )
  }
  return Either.try({
    try: (): unknown => document.toJS({ maxAliasCount: ALIASES_MAX }),
    catch: () => "has front matter with too many aliases"
  })
}

const isList = (tools: NonNullable<FrontMatter["tools"]>): tools is ReadonlyArray<string> => Array.isArray(tools)

/** Without `tools` an agent has what `general` has; a list, or `allow`, is all it has; `deny` takes away. */
const layerOf = (tools: FrontMatter["tools"]): Agent["tools"] => {
  if (tools === undefined) return { allow: GENERAL_TOOLS }
  if (isList(tools)) return { allow: tools }
  return { allow: tools.allow ?? GENERAL_TOOLS, ...(tools.deny === undefined ? {} : { deny: tools.deny }) }
}

const promptOf = (meta: FrontMatter, body: string): Either.Either<string, string> => {
  const own = meta.prompt?.trim() ?? ""
  if (own !== "" && body !== "") return Either.left("prompt: is given twice, in the front matter and below it")
  return Either.right(own === "" ? body : own)
}

const problemOf = (meta: FrontMatter, name: string, source: Agent["source"]): Option.Option<string> => {
  if (meta.name !== undefined && meta.name !== name) return Option.some("name: must be the file's own name")
  const [glob] = validateLayer(layerOf(meta.tools))
  if (glob !== undefined) return Option.some(`${glob.path}: ${glob.reason}`)
  // Whoever brings a folder, or writes into it, must not widen what every session there runs with.
  if (source === "workdir" && takenNames.has(name) && meta.permissions?.some(({ action }) => action === "allow")) {
    return Option.some("permissions: a workdir's file with the name of a built-in agent may not allow anything")
  }
  return Option.none()
}

/** The agent a file describes, or what is wrong with it. The file's name is the agent's. */
export const parseAgent = (file: string, text: string, source: "workdir" | "data"): Either.Either<Agent, string> =>
  Either.gen(function* () {
    const name = fileName.exec(file)?.[1]
    if (name === undefined) return yield* Either.left("has a name that no agent can have")
    const { body, yaml } = yield* split(text)
    const json = yield* parseYaml(yaml)
    const meta = yield* Either.mapLeft(decode(json ?? {}), (error) =>
      schemaIssues(error)
        .map(({ path, reason }) => `${path === "" ? "the front matter" : `${path}:`} ${reason}`)
        .join("; ")
    )
    const problem = problemOf(meta, name, source)
    if (Option.isSome(problem)) return yield* Either.left(problem.value)
    const agent: Agent = {
      name,
      description: meta.description,
      prompt: yield* promptOf(meta, body),
      tools: layerOf(meta.tools),
      // `general`'s rules first: the last match wins, so the file's own have the last word.
      permissions: [...GENERAL_RULES, ...(meta.permissions ?? [])],
      mode: meta.mode ?? "agent",
      source,
      ...(meta.model === undefined ? {} : { model: meta.model }),
      ...(meta.steps === undefined ? {} : { steps: meta.steps }),
      ...(meta.voice === undefined ? {} : { voice: meta.voice })
    }
    return agent
  })
