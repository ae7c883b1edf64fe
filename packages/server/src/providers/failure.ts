import { AISDKError, APICallError, UnsupportedFunctionalityError } from "@ai-sdk/provider"
import type { SafeFailure } from "@harness/protocol"
import { Option, Predicate, Redacted } from "effect"
import { ModelFailure } from "./Model.ts"
import { brief, wellFormed } from "./text.ts"

/** Takes secrets out of a text. */
export type Scrub = (text: string) => string

const keyLike = /\b(?:sk|pk|rk|xai|gsk|key)-[\w*.-]{6,}|\bAIza[\w-]{10,}|\bBearer\s+\S+/gi

/** Hides our keys, as they are and as a URL or base64 would carry them, and whatever else looks like a key. */
export const makeScrub = (secrets: ReadonlyArray<Redacted.Redacted>): Scrub => {
  const forms = secrets
    .map(Redacted.value)
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret, "utf8").toString("base64")])
    .sort((a, b) => b.length - a.length)
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, "[secret]"), text).replace(keyLike, "[secret]")
}

/** What an error tells, wherever the provider put it. */
interface Evidence {
  readonly status?: number | undefined
  /** Types and codes, lower case. */
  readonly marks: string
  readonly words: string
  readonly retryAfterMillis?: number | undefined
}

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const field = (value: unknown, key: string): unknown => (Predicate.isRecord(value) ? value[key] : undefined)

const errorOf = (body: unknown): unknown => {
  if (Array.isArray(body)) return errorOf(body[0])
  return field(body, "error") ?? field(field(body, "response"), "error") ?? body
}

const bodyOf = (error: APICallError): unknown => Option.getOrElse(parse(error.responseBody ?? ""), () => error.data)

const retryInfo = (error: unknown): number | undefined => {
  const details = field(error, "details")
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const delay = field(detail, "retryDelay")
    const seconds = typeof delay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000)
  }
  return undefined
}

/** `retry-after` in milliseconds: seconds, an HTTP date, or the finer header some providers send. */
const retryAfter = (headers: Record<string, string> | undefined, now: number): number | undefined => {
  const millis = headers?.["retry-after-ms"]?.trim()
  if (millis !== undefined && /^\d+(\.\d+)?$/.test(millis)) return Math.ceil(Number(millis))
  const value = headers?.["retry-after"]?.trim()
  if (value === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

const evidenceOf = (error: unknown, now: number): Evidence => {
  const isCall = APICallError.isInstance(error)
  const inner = errorOf(isCall ? bodyOf(error) : error)
  const marks = ["type", "code", "status", "statusCode", "reason"].map((key) => field(inner, key))
  const numeric = marks.find((mark) => typeof mark === "number" && mark >= 400 && mark < 600)
  const message = typeof inner === "string" ? inner : field(inner, "message")
  const status = isCall && error.statusCode !== 200 ? error.statusCode : undefined
  return {
    status: typeof numeric === "number" ? (status ?? numeric) : status,
    marks: marks.filter(Predicate.isString).join(" ").toLowerCase(),
    words: typeof message === "string" ? message : "",
    retryAfterMillis: isCall ? (retryAfter(error.responseHeaders, now) ?? retryInfo(inner)) : retryInfo(inner)
  }
}

const overflowMarks = /context_length|context_window|exceed_context|request_too_large/
const overflowWords =
  /context (length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|token count.*exceeds|reduce the length/i
const quota = /insufficient_quota|billing|credit balance is too low|exceeded your current quota/i
const authMarks = /authentication_error|permission_error|invalid_api_key|unauthenticated|permission_denied/
const rateMarks = /rate_limit|resource_exhausted|too_many_requests/
const transientMarks = /overloaded|server_error|api_error|timeout|unavailable|internal/

type Verdict = readonly [kind: SafeFailure["kind"], code: string, lead: string]

const judge = ({ marks, status, words }: Evidence): Verdict => {
  const at = status === undefined ? "" : ` (${status})`
  const isAuth = status === 401 || status === 403 || authMarks.test(marks) || /api key not valid/i.test(words)
  if (isAuth) return ["auth_expired", "provider.auth", `The provider refused the credentials${at}`]
  if (status === 402 || quota.test(marks) || quota.test(words)) {
    return ["permanent", "provider.quota", `The provider's quota is used up${at}`]
  }
  if (status === 429 || rateMarks.test(marks)) {
    return ["rate_limited", "provider.rate_limited", `The provider asks for fewer requests${at}`]
  }
  if (status === 413 || overflowMarks.test(marks) || overflowWords.test(words)) {
    return ["context_overflow", "provider.context_overflow", `The conversation is too long for the model${at}`]
  }
  if (status === undefined || status === 408 || status === 409 || status === 425 || status >= 500) {
    return ["transient", "provider.unavailable", `The provider failed${at}`]
  }
  if (transientMarks.test(marks)) return ["transient", "provider.unavailable", `The provider failed${at}`]
  if (status === 404) return ["permanent", "provider.not_found", `The provider does not have this model${at}`]
  if (status < 400) return ["permanent", "provider.redirected", `The provider's address has moved${at}`]
  return ["permanent", "provider.refused", `The provider refused the request${at}`]
}

/** A failure from its parts; only `rate_limited` and `transient` may work when tried again. */
export const modelFailure = (
  kind: SafeFailure["kind"],
  code: string,
  message: string,
  retryAfterMillis?: number
): ModelFailure =>
  new ModelFailure({
    failure: { kind, code, message, retryable: kind === "rate_limited" || kind === "transient" },
    ...(retryAfterMillis === undefined ? {} : { retryAfterMillis })
  })

/** No byte came for as long as we wait. */
export const stalled = (millis: number): ModelFailure =>
  modelFailure("transient", "provider.stalled", `The provider sent nothing for ${Math.round(millis / 1000)} s.`)

/** The answer ended before the model said why. */
export const cutOff = (): ModelFailure =>
  modelFailure("transient", "provider.cut", "The provider's answer was cut off.")

/** The provider gave up on the answer in its own words. */
export const badAnswer = (): ModelFailure =>
  modelFailure("transient", "provider.bad_answer", "The provider ended the answer with an error.")

/** Whether a package complains that the stream ended without a finish reason. */
export const isUnreasoned = (error: unknown): boolean =>
  AISDKError.isInstance(error) && error.message.includes("without a finish reason")

const codeOfCause = (error: unknown, depth = 0): string | undefined => {
  const code = field(error, "code")
  if (typeof code === "string" && /^[A-Z0-9_]{3,40}$/.test(code)) return code
  const cause = error instanceof Error ? error.cause : undefined
  return cause === undefined || depth > 4 ? undefined : codeOfCause(cause, depth + 1)
}

const lost = (error: unknown): ModelFailure => {
  const code = codeOfCause(error)
  return modelFailure(
    "transient",
    "provider.connection_lost",
    `The connection to the provider was lost${code === undefined ? "" : ` (${code})`}.`
  )
}

const unreachable = (error: unknown): ModelFailure => {
  const code = codeOfCause(error)
  return modelFailure(
    "transient",
    "provider.unreachable",
    `The provider could not be reached${code === undefined ? "" : ` (${code})`}.`
  )
}

/** What a provider package threw, or put into its stream, as a failure that is safe to show. */
export const failureOf = (error: unknown, options: { readonly scrub: Scrub; readonly now: number }): ModelFailure => {
  if (APICallError.isInstance(error)) {
    if (error.statusCode === undefined) return unreachable(error)
    if (error.statusCode === 200 && error.responseBody === undefined) return lost(error)
  } else if (UnsupportedFunctionalityError.isInstance(error)) {
    const what = brief(wellFormed(options.scrub(error.functionality)), 200)
    return modelFailure("permanent", "provider.unsupported", `The model cannot take this: ${what}.`)
  } else if (AISDKError.isInstance(error)) {
    if (/LoadAPIKey/.test(error.name)) return modelFailure("auth_expired", "provider.auth", "The provider has no key.")
    if (/InvalidPrompt|InvalidArgument/.test(error.name)) {
      return modelFailure("permanent", "provider.unsupported", "The provider cannot take this request.")
    }
    if (isUnreasoned(error)) return cutOff()
    return modelFailure("transient", "provider.bad_response", "The provider's answer could not be read.")
  } else if (error instanceof Error) {
    return lost(error)
  }
  const evidence = evidenceOf(error, options.now)
  const [kind, code, lead] = judge(evidence)
  // What a provider says about credentials tends to quote them.
  const words = kind === "auth_expired" ? "" : brief(wellFormed(options.scrub(evidence.words)).trim(), 300)
  return modelFailure(kind, code, words === "" ? `${lead}.` : `${lead}: ${words}`, evidence.retryAfterMillis)
}
