import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { NotFoundError, ServerName, UnauthorizedError, UnavailableError, ValidationError } from "@harness/protocol"
import { SUBPROTOCOL } from "@harness/protocol/jambonz"
import { Context, Effect, Layer, Schema } from "effect"
import { Settings, type SettingsValues } from "../config/Config.ts"
import { isLoopback } from "../config/values.ts"
import type { Draining } from "../http/Draining.ts"
import { Listener } from "../http/Listener.ts"
import { Servers } from "../servers/Servers.ts"
import { Calls } from "./Calls.ts"
import { converse } from "./door.ts"
import { isSame, secretOf } from "./secret.ts"
import { asksFor, takeOver } from "./socket.ts"

/** Where the other side knocks, on this port like everybody. */
export const JAMBONZ_PATH = "/v1/servers/:server/jambonz"

const path = /^\/v1\/servers\/([^/?]+)\/jambonz$/
const bearer = /^Bearer +(\S+)$/i
const isServerName = Schema.is(ServerName)

/** Without a secret only this machine may call; with one, whoever brings it. */
const mayCall = (settings: SettingsValues, server: ServerName, authorization: string | undefined): boolean => {
  const secret = secretOf(settings, server)
  if (secret === undefined) return isLoopback(settings.host)
  const brought = bearer.exec(authorization ?? "")?.[1]
  return brought !== undefined && isSame(brought, secret)
}

const unauthorized = new UnauthorizedError({
  code: "auth.unknown",
  message: "calls must bring the jambonz secret as a Bearer token"
})
const noUpgrade = new ValidationError({
  code: "request.malformed",
  message: `this is a WebSocket of the subprotocol ${SUBPROTOCOL}`
})
const noAgent = new NotFoundError({ code: "agent.not_found", message: "there is no agent of that name" })
const full = new UnavailableError({
  code: "calls.full",
  message: "this server has as many calls as it takes",
  retryable: true
})

/** A call comes in: checked as far as a request can be, then it is a socket until it closes. */
const knock = Effect.gen(function* () {
  const settings = yield* Settings
  const servers = yield* Servers
  const listener = yield* Listener
  const request = yield* HttpServerRequest.HttpServerRequest
  const [at, query = ""] = request.url.split("?", 2)
  const server = path.exec(at ?? "")?.[1]
  if (!isServerName(server)) {
    return yield* new ValidationError({ code: "request.invalid", message: "that is no name of a server" })
  }
  if (!mayCall(settings, server, request.headers["authorization"])) return yield* unauthorized
  if (!asksFor(SUBPROTOCOL, request.headers)) return yield* noUpgrade
  const calls = Context.get(yield* servers.ensure(server), Calls)
  const agent = new URLSearchParams(query).get("agent") ?? undefined
  if (agent !== undefined && !(yield* calls.knows(agent))) return yield* noAgent
  if (calls.isFull()) return yield* full
  const message = NodeHttpServerRequest.toIncomingMessage(request)
  const socket = yield* takeOver(message, listener.headOf(message))
  if (socket !== undefined) yield* converse(socket, calls, agent)
  return HttpServerResponse.empty()
})

/** The voice route. */
export const JambonzRoutes = HttpApiBuilder.Router.use((router) =>
  Effect.flatMap(Effect.context<Draining | Listener | Servers | Settings>(), (context) =>
    router.get(JAMBONZ_PATH, Effect.provide(knock, context))
  )
).pipe(Layer.provide(Listener.layer))
