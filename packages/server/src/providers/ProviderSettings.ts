import { Context, type Redacted } from "effect"
import type { ModelDescription } from "./describe.ts"

/** An OpenAI-compatible provider of `harness.json`; an id of a built-in one is not taken over. */
export interface CustomProvider {
  readonly id: string
  readonly name?: string
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted
  /** Models it has; when left out any name is passed on. The first is its default. */
  readonly models?: ReadonlyArray<string>
  /** Whether its models take a JSON schema as response format. Default false. */
  readonly nativeJson?: boolean
  /** Default true. */
  readonly takesImages?: boolean
}

/** Which providers are connected, with what, and how patient we are. `main.ts` fills it in. */
export class ProviderSettings extends Context.Tag("@harness/server/ProviderSettings")<
  ProviderSettings,
  {
    readonly openaiApiKey?: Redacted.Redacted
    readonly openaiBaseUrl?: string
    readonly anthropicApiKey?: Redacted.Redacted
    readonly anthropicBaseUrl?: string
    readonly googleApiKey?: Redacted.Redacted
    readonly googleBaseUrl?: string
    /** `HARNESS_MODEL`. */
    readonly model?: string
    readonly custom?: ReadonlyArray<CustomProvider>
    /** What `harness.json` says of models, by `provider/model`: it goes before what the catalogue knows. */
    readonly models?: Readonly<Record<string, ModelDescription>>
    /** A stream silent for longer has failed. Default 120000. */
    readonly stallMillis?: number
    /** First delay of a retry. Default 500. */
    readonly retryBaseMillis?: number
  }
>() {}
