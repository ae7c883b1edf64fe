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

/** Every endpoint, as the protocol's HttpApi makes it. What is no success fails as a Fault. */
const make = (connection: Connection) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    return yield* HttpApiClient.makeWith(HarnessApi, {
      baseUrl: connection.baseUrl,
      httpClient: client.pipe(
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
    })
  }).pipe(Effect.provide(FetchHttpClient.layer), Effect.provideService(FetchHttpClient.Fetch, connection.fetch))

export type Api = Effect.Effect.Success<ReturnType<typeof make>>

/** Runs one endpoint: in time, repeated where that is safe, with its failure in the words of ClientError. */
export type Call = <A, E>(
  name: string,
  endpoint: Effect.Effect<A, E>,
  options?: { readonly repeat?: Repeat; readonly waitMillis?: number }
) => Effect.Effect<A, ClientError>

/** The endpoints, and the way to call them. */
export const makeApi = (connection: Connection): Effect.Effect<{ readonly api: Api; readonly call: Call }> =>
  Effect.map(make(connection), (api) => ({
    api,
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
  }))
