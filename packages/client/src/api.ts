import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { HarnessApi } from "@harness/protocol"
import { Duration, Effect } from "effect"
import type { Connection } from "./Connection.ts"
import type { ClientError } from "./errors.ts"
import { refusal, silent, toFault } from "./Fault.ts"
import { mayRepeat, policy, type Repeat } from "./retry.ts"

/** An absent body is null in the API's schemas; on the wire it is absent. */
const withoutNull = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest =>
  request.body._tag === "Uint8Array" && new TextDecoder().decode(request.body.body) === "null"
    ? HttpClientRequest.setBody(request, HttpBody.empty)
    : request

const lazily = <A>(make: Effect.Effect<A>): (() => A) => {
  let made: A | undefined
  return () => {
    made ??= Effect.runSync(make)
    return made
  }
}

/**
 * The endpoints by group, as the protocol's HttpApi makes them: each group when somebody first wants it, for all of them
 * together take longer than most programs need one. What is no success fails as a Fault.
 */
const make = (connection: Connection, client: HttpClient.HttpClient) => {
  const httpClient = client.pipe(
    // A traceparent header is none that a server allows a browser's page to send.
    HttpClient.withTracerPropagation(false),
    HttpClient.mapRequest((request) => withoutNull(HttpClientRequest.setHeaders(request, connection.headers))),
    HttpClient.transformResponse(
      Effect.flatMap((response) =>
        response.status >= 200 && response.status < 300
          ? Effect.succeed(response)
          : Effect.flatMap(response.text, (body) =>
              Effect.flatMap(refusal(response.status, body, response.headers["retry-after"]), Effect.fail)
            )
      )
    )
  )
  const options = { httpClient, baseUrl: connection.baseUrl }
  return {
    agents: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "agents" })),
    background: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "background" })),
    calls: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "calls" })),
    compactions: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "compactions" })),
    conversation: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "conversation" })),
    forks: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "forks" })),
    health: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "health" })),
    hooks: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "hooks" })),
    permissions: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "permissions" })),
    questions: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "questions" })),
    queue: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "queue" })),
    reload: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "reload" })),
    runtime: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "runtime" })),
    servers: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "servers" })),
    sessions: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "sessions" })),
    system: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "system" })),
    turns: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "turns" })),
    webhooks: lazily(HttpApiClient.group(HarnessApi, { ...options, group: "webhooks" }))
  }
}

export type Api = ReturnType<typeof make>

/** Runs one endpoint: in time, repeated where that is safe, with its failure in the words of ClientError. */
export type Call = <A, E>(
  name: string,
  endpoint: Effect.Effect<A, E>,
  options?: { readonly repeat?: Repeat; readonly waitMillis?: number }
) => Effect.Effect<A, ClientError>

/** The endpoints, and the way to call them. */
export const makeApi = (connection: Connection): Effect.Effect<{ readonly api: Api; readonly call: Call }> =>
  Effect.map(HttpClient.HttpClient, (client): { readonly api: Api; readonly call: Call } => ({
    api: make(connection, client),
    call: (name, endpoint, { repeat = "safe", waitMillis = 0 } = {}) =>
      endpoint.pipe(
        Effect.mapError(toFault),
        Effect.timeoutFail({
          duration: Duration.sum(connection.answerWithin, Duration.millis(waitMillis)),
          onTimeout: () => toFault(silent(connection.answerWithin))
        }),
        Effect.retry({ schedule: policy(connection), while: mayRepeat(repeat) }),
        Effect.mapError((fault) => fault.error),
        Effect.withSpan(`HarnessClient.${name}`)
      )
  })).pipe(Effect.provide(FetchHttpClient.layer), Effect.provideService(FetchHttpClient.Fetch, connection.fetch))
