import { Either, Schema } from "effect"
import { SchemaError } from "../decode.ts"
import { schemaIssues } from "../issues.ts"
import type { JsonObject } from "../schema/Json.ts"
import {
  AgentVerb,
  type BargeIn,
  FIRST_CHUNK_TIMEOUT_DEFAULT,
  type HookAddress,
  type OnHarnessFailure,
  type SpeechVendor,
  type TurnDetection,
  type VerbTool
} from "./verb.ts"

/** After how many silent seconds we are told. At the verb's own default, 0, no `silence` ever comes. */
export const NO_RESPONSE_TIMEOUT = 10

/** What an agent verb can be told. `label` names the account's Harness credential, which holds our URL and key. */
export interface AgentVerbOptions {
  readonly label?: string | null | undefined
  readonly stt?: SpeechVendor | undefined
  readonly tts?: SpeechVendor | undefined
  readonly tools?: ReadonlyArray<VerbTool> | undefined
  readonly metadata?: JsonObject | undefined
  readonly firstChunkTimeoutMs?: number | undefined
  readonly holdingPhrase?: string | undefined
  readonly onHarnessFailure?: OnHarnessFailure | undefined
  readonly handoff?: JsonObject | undefined
  readonly bargeIn?: BargeIn | undefined
  readonly turnDetection?: TurnDetection | undefined
  readonly toolHook?: HookAddress | undefined
  readonly eventHook?: HookAddress | undefined
  readonly actionHook?: HookAddress | undefined
}

const decode = Schema.decodeUnknownEither(AgentVerb, { errors: "all" })

const given = (fields: object): object => Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined))

/**
 * The verb that points a call at us. jambonz does not say how long it waits for a reply, so `metadata` does.
 * Throws a `SchemaError` on what `AgentVerb` refuses.
 */
export const agentVerb = (options: AgentVerbOptions = {}): AgentVerb => {
  const { label, tools, metadata, holdingPhrase, onHarnessFailure, ...rest } = options
  const { firstChunkTimeoutMs = FIRST_CHUNK_TIMEOUT_DEFAULT, ...settings } = rest
  const verb = given({
    verb: "agent",
    ...settings,
    llm: given({
      vendor: "harness",
      label,
      llmOptions: tools === undefined ? undefined : { tools },
      harness: given({
        metadata: { ...metadata, firstChunkTimeoutMs },
        firstChunkTimeoutMs,
        holdingPhrase,
        onHarnessFailure
      })
    }),
    noResponseTimeout: NO_RESPONSE_TIMEOUT
  })
  return Either.getOrThrowWith(decode(verb), (error) => new SchemaError({ issues: schemaIssues(error) }))
}

/** What to enter as URL of the account's Harness credential: the voice route of a server reached at `base`. */
export const harnessUrl = (at: {
  readonly base: string
  readonly server: string
  readonly agent?: string | undefined
}): string => {
  const url = new URL(`${at.base.replace(/\/+$/, "")}/v1/servers/${encodeURIComponent(at.server)}/jambonz`)
  url.protocol = url.protocol === "https:" || url.protocol === "wss:" ? "wss:" : "ws:"
  if (at.agent !== undefined) url.searchParams.set("agent", at.agent)
  return url.href
}
