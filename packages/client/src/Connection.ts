import { CLIENT_ID_HEADER, SESSION_EVENT_HEARTBEAT_MILLIS, ValidationError } from "@harness/protocol"
import { Duration, Effect } from "effect"

/** Where a server is, who asks, and how patient it is with the network. */
export interface ConnectOptions {
  /** For example `http://127.0.0.1:4700`; a path in it goes before every route. */
  readonly baseUrl: string | URL
  /** Bearer token; only `health` works without. */
  readonly token?: string | undefined
  /** Names this client in what the server records. No credential. */
  readonly clientId?: string | undefined
  /** Used instead of the global one; it has to honour `signal`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** How long an answer may take, its body included. 30 seconds. */
  readonly answerWithin?: Duration.DurationInput | undefined
  /** A stream on which no byte came for this long is a lost connection. Two heartbeats: 30 seconds. */
  readonly silence?: Duration.DurationInput | undefined
  /** How often a request is repeated where that is safe. 5. */
  readonly retries?: number | undefined
  /** The first pause before a repetition, and the longest; it doubles in between. 200 milliseconds, 5 seconds. */
  readonly backoff?: { readonly first: Duration.DurationInput; readonly longest: Duration.DurationInput } | undefined
}

/** The same, checked and complete. */
export interface Connection {
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof globalThis.fetch
  readonly answerWithin: Duration.Duration
  readonly silence: Duration.Duration
  readonly retries: number
  readonly backoff: { readonly first: Duration.Duration; readonly longest: Duration.Duration }
}

const invalid = (path: string, reason: string) =>
  new ValidationError({
    code: "request.invalid",
    message: `${path} ${reason}`,
    details: { issues: [{ path, reason }] }
  })

const printable = /^[\x21-\x7e]+$/

/** Checks the options once, so that a mistake in them is no failure of every request. */
export const connection = (options: ConnectOptions): Effect.Effect<Connection, ValidationError> =>
  Effect.gen(function* () {
    const text = String(options.baseUrl)
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
      return yield* invalid("baseUrl", "must be an http or https URL")
    }
    if (options.token !== undefined && !printable.test(options.token)) {
      return yield* invalid("token", "must be printable ASCII without spaces")
    }
    if (options.clientId !== undefined && !printable.test(options.clientId)) {
      return yield* invalid("clientId", "must be printable ASCII without spaces")
    }
    const given = options.fetch
    return {
      baseUrl: url.origin + url.pathname.replace(/\/+$/, ""),
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.clientId === undefined ? {} : { [CLIENT_ID_HEADER]: options.clientId })
      },
      // A browser's fetch wants to be called on nothing else than its window.
      fetch: (input, init) => (given ?? globalThis.fetch)(input, init),
      answerWithin: Duration.decode(options.answerWithin ?? "30 seconds"),
      silence: Duration.decode(options.silence ?? 2 * SESSION_EVENT_HEARTBEAT_MILLIS),
      retries: options.retries ?? 5,
      backoff: {
        first: Duration.decode(options.backoff?.first ?? "200 millis"),
        longest: Duration.decode(options.backoff?.longest ?? "5 seconds")
      }
    }
  })
