import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { type Scope, ServerName, UnauthorizedError, ValidationError } from "@harness/protocol"
import { APP_SUBPROTOCOL, CallSid, CLOSE_POLICY, CLOSE_RESTART, callSession } from "@harness/protocol/jambonz"
import { Clock, Deferred, Effect, Layer, Option, Queue, Schema } from "effect"
import type { WebSocket } from "ws"
import type { Agents } from "../agents/Agents.ts"
import { allows } from "../auth/Authorization.ts"
import { Tokens } from "../auth/Tokens.ts"
import { Settings } from "../config/Config.ts"
import { isLoopback } from "../config/values.ts"
import { Draining } from "../http/Draining.ts"
import { Listener } from "../http/Listener.ts"
import { onNewServer, onSession } from "../servers/on.ts"
import type { Servers } from "../servers/Servers.ts"
import { type AppPlace, answerCall, runTool, takeDone, takeEvent } from "./application.ts"
import { hearApp } from "./appMessages.ts"
import { factsOf } from "./facts.ts"
import { isSame, isSigned, passwordOf, secretOf } from "./secret.ts"
import { asksFor, takeOver } from "./socket.ts"

/** Where jambonz asks what to do with a call, and brings what became of it. */
export const APP_PATHS = ["app", "tool", "event", "done"].map((hook) => `/v1/servers/:server/jambonz/${hook}` as const)

/** Where anybody with a token asks what is known of a call beside its session. */
export const CALL_PATH = "/v1/servers/:server/jambonz/calls/:call"

const path = /^\/v1\/servers\/([^/?]+)\/jambonz\/(app|tool|event|done)$/
const bearer = /^Bearer +(\S+)$/i
const isServerName = Schema.is(ServerName)
const isCallSid = Schema.is(CallSid)
/** Messages of one call that may wait for an answer. */
const WAITING_MAX = 256

const unauthorized = new UnauthorizedError({
  code: "auth.unknown",
  message: "jambonz must bring the secret as a password or sign with it; others bring a token"
})
const noName = new ValidationError({ code: "request.invalid", message: "that is no name of a server or of a call" })
const noTurn = new ValidationError({ code: "request.invalid", message: "turn must be the number of a turn" })
const noUpgrade = new ValidationError({
  code: "request.malformed",
  message: `this is a POST, or a WebSocket of the subprotocol ${APP_SUBPROTOCOL}`
})

const tokenOf = (request: HttpServerRequest.HttpServerRequest) =>
  bearer.exec(request.headers["authorization"] ?? "")?.[1]

/** Whether a token was brought that may do this on this server. */
const hasToken = (request: HttpServerRequest.HttpServerRequest, server: ServerName, scope: Scope) =>
  Effect.gen(function* () {
    const found = Option.getOrUndefined(yield* (yield* Tokens).find(tokenOf(request) ?? ""))
    return found !== undefined && allows(found.scopes, scope) && (found.servers?.includes(server) ?? true)
  })

/** jambonz knows the secret; everybody else has a token that may write. Without a secret this machine is trusted. */
const mayAsk = (request: HttpServerRequest.HttpServerRequest, server: ServerName, body: Uint8Array) =>
  Effect.gen(function* () {
    if (tokenOf(request) !== undefined) return yield* hasToken(request, server, "write")
    const settings = yield* Settings
    const secret = secretOf(settings, server)
    if (secret === undefined) return isLoopback(settings.host)
    const password = passwordOf(request.headers["authorization"])
    if (password !== undefined) return isSame(password, secret)
    const signature = request.headers["jambonz-signature"]
    return signature !== undefined && isSigned(signature, body, secret, yield* Clock.currentTimeMillis)
  })

const placeOf = (request: HttpServerRequest.HttpServerRequest) => {
  const [at = "", query = ""] = request.url.split("?", 2)
  const [, server, hook = "app"] = path.exec(at) ?? []
  const asked = new URLSearchParams(query)
  if (!isServerName(server)) return Effect.fail(noName)
  const place: AppPlace = {
    server,
    agent: asked.get("agent") ?? undefined,
    callSid: asked.get("call_sid") ?? undefined
  }
  return Effect.succeed({ place, hook })
}

const answers = (hook: string, body: unknown, place: AppPlace) => {
  switch (hook) {
    case "tool":
      return Effect.map(runTool(body), ({ data }): unknown => data)
    case "event":
      return Effect.as(takeEvent(body, place), {})
    case "done":
      return Effect.as(takeDone(body, place), [])
    default:
      return answerCall(body, place)
  }
}

/** A webhook of jambonz. */
const hear = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { hook, place } = yield* placeOf(request)
  const bytes = new Uint8Array(yield* request.arrayBuffer)
  if (!(yield* mayAsk(request, place.server, bytes))) return yield* unauthorized
  return HttpServerResponse.unsafeJson(yield* onNewServer(place.server, answers(hook, yield* request.json, place)))
})

/** The application as a socket: one message after the other, each with its answer. One that makes no sense is overlooked. */
const converse = (socket: WebSocket, place: AppPlace) =>
  Effect.gen(function* () {
    const draining = yield* Draining
    const messages = yield* Queue.bounded<string>(WAITING_MAX)
    const closed = yield* Deferred.make<void>()
    socket.on("message", (data, isBinary) => {
      if (!isBinary && !Queue.unsafeOffer(messages, data.toString())) socket.close(CLOSE_POLICY, "too much at once")
    })
    socket.on("close", () => Deferred.unsafeDone(closed, Effect.void))
    socket.on("error", () => {})
    const answer = (text: string) =>
      hearApp(text, place).pipe(
        Effect.tap((frames) =>
          Effect.sync(() => {
            for (const frame of frames) socket.send(JSON.stringify(frame))
          })
        ),
        Effect.catchAllCause((cause) => Effect.logWarning("voice: a message to the application has no answer", cause))
      )
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(messages), answer)))
    yield* Effect.forkScoped(
      Effect.zipRight(
        draining.awaitDraining,
        Effect.sync(() => socket.close(CLOSE_RESTART, "the server restarts"))
      )
    )
    yield* Deferred.await(closed)
  }).pipe(Effect.scoped)

/** jambonz wants to talk to the application over one socket. */
const open = Effect.gen(function* () {
  const listener = yield* Listener
  const request = yield* HttpServerRequest.HttpServerRequest
  const { place } = yield* placeOf(request)
  if (!(yield* mayAsk(request, place.server, new Uint8Array()))) return yield* unauthorized
  if (!asksFor(APP_SUBPROTOCOL, request.headers)) return yield* noUpgrade
  const message = NodeHttpServerRequest.toIncomingMessage(request)
  const upgraded = yield* takeOver(message, listener.headOf(message), APP_SUBPROTOCOL)
  if (upgraded !== undefined) yield* onNewServer(place.server, converse(upgraded.socket, place))
  return HttpServerResponse.empty()
})

const facts = /^\/v1\/servers\/([^/?]+)\/jambonz\/calls\/([^/?]+)(?:\?(.*))?$/
const isTurn = /^\d{1,9}$/

/** What jambonz told of a call, and what was measured of it. */
const tell = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const [, server, callSid, query] = facts.exec(request.url) ?? []
  if (!isServerName(server) || !isCallSid(callSid)) return yield* noName
  if (!(yield* hasToken(request, server, "read"))) return yield* unauthorized
  const turn = new URLSearchParams(query).get("turn")
  if (turn !== null && !isTurn.test(turn)) return yield* noTurn
  return HttpServerResponse.unsafeJson(
    yield* onSession(
      { server, sessionId: callSession(callSid) },
      factsOf(callSid, turn === null ? undefined : Number(turn))
    )
  )
})

/** The routes of the application that points calls at us. */
export const JambonzAppRoutes = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Agents | Draining | Listener | Servers | Settings | Tokens>()
    for (const at of APP_PATHS) yield* router.post(at, Effect.provide(hear, context))
    yield* router.get(CALL_PATH, Effect.provide(tell, context))
    yield* router.get("/v1/servers/:server/jambonz/app", Effect.provide(open, context))
  })
).pipe(Layer.provide(Listener.layer))
