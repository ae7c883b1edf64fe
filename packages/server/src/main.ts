import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServer from "@effect/platform/HttpServer"
import { type ConflictError, HarnessApi } from "@harness/protocol"
import { Effect, Layer } from "effect"
import { Agents } from "./agents/Agents.ts"
import { AgentsHandlers } from "./agents/http.ts"
import { AsksHandlers } from "./asks/http.ts"
import { AuthorizationLayer } from "./auth/Authorization.ts"
import { Tokens, type TokensError } from "./auth/Tokens.ts"
import { CompactionsHandlers } from "./compaction/http.ts"
import { Settings, type SettingsValues } from "./config/Config.ts"
import { ReloadHandlers } from "./config/http.ts"
import { Limits } from "./config/Limits.ts"
import { LiveSettings, type Reread } from "./config/LiveSettings.ts"
import { Redaction } from "./config/Redaction.ts"
import { Places } from "./engine/Engine.ts"
import { HostHooksLayer } from "./hooks/HostHooks.ts"
import { HooksHandlers } from "./hooks/http.ts"
import { DaemonLog } from "./http/DaemonLog.ts"
import { Draining } from "./http/Draining.ts"
import { BesideApi } from "./http/edge.ts"
import { ServerInfo } from "./http/ServerInfo.ts"
import { type ListenError, serve } from "./http/server.ts"
import { Offer, SystemHandlers } from "./http/system.ts"
import { APP_PATHS, CALL_PATH, JambonzAppRoutes } from "./jambonz/app.ts"
import { JAMBONZ_PATH, JambonzRoutes } from "./jambonz/http.ts"
import { Models } from "./models/Models.ts"
import type { ProviderSettings } from "./providers/ProviderSettings.ts"
import { ServersHandlers } from "./servers/http.ts"
import { Servers, ServersFolder } from "./servers/Servers.ts"
import { SessionsHandlers } from "./sessions/http.ts"
import { BackgroundHandlers } from "./tasks/http.ts"
import { Tools } from "./tools/Tools.ts"
import { ConversationHandlers, ForksHandlers, QueueHandlers, TurnsHandlers } from "./turns/http.ts"
import { Jobs } from "./workspace/Jobs.ts"
import { WebAccess, webAccess } from "./workspace/WebAccess.ts"

/** What this build calls itself. */
export const RELEASE = "0.1.0"

export { loadSettings, SettingsError, type SettingsFlags, type SettingsValues } from "./config/Config.ts"

/** A server that answers. */
export interface RunningServer {
  readonly url: string
  readonly data: string
  readonly root: string
  /** Where the admin's token is written, for clients on this machine. */
  readonly tokenFile: string
  /** Providers that have a key; without one the `demo` model answers. */
  readonly providers: ReadonlyArray<string>
  readonly defaultModel: string
}

const providerSettings = (settings: SettingsValues): typeof ProviderSettings.Service => ({
  ...(settings.openaiApiKey === undefined ? {} : { openaiApiKey: settings.openaiApiKey }),
  ...(settings.openaiBaseUrl === undefined ? {} : { openaiBaseUrl: settings.openaiBaseUrl }),
  ...(settings.anthropicApiKey === undefined ? {} : { anthropicApiKey: settings.anthropicApiKey }),
  ...(settings.googleApiKey === undefined ? {} : { googleApiKey: settings.googleApiKey }),
  ...(settings.model === undefined ? {} : { model: settings.model }),
  custom: settings.providers,
  models: settings.models
})

const offer = Layer.effect(
  Offer,
  Effect.gen(function* () {
    const tools = yield* Tools
    const models = yield* Models
    return {
      tools: Effect.succeed(tools.list.map(({ name }) => name)),
      providers: Effect.map(models.providers, (all) =>
        all.filter(({ connected }) => connected).map(({ providerId }) => providerId)
      ),
      subAgents: true,
      voice: true
    }
  })
)

/** Where the log's lines go. */
export interface LogOutput {
  readonly format: "plain" | "json"
  readonly write: (line: string) => void
}

const limits = Layer.effect(
  Limits,
  Effect.map(LiveSettings, ({ current }) => Effect.map(current, (settings) => settings.limits))
)

/** How the settings are read again, and where their file is looked for first. */
export interface SettingsAgain {
  readonly cwd: string
  readonly reread: Reread
}

/** The whole process, from settings to an open port: the one place where layers meet. */
const layer = (settings: SettingsValues, output: LogOutput, again: SettingsAgain | undefined) => {
  const secrets = [settings.token, settings.openaiApiKey, settings.anthropicApiKey, settings.googleApiKey]
  const voice = [settings.jambonzSecret, ...Object.values(settings.jambonzSecrets ?? {})]
  const keys = [...settings.providers.map(({ apiKey }) => apiKey), ...settings.hooks.map(({ secret }) => secret)]
  const handlers = Layer.mergeAll(
    SystemHandlers,
    ServersHandlers,
    SessionsHandlers,
    TurnsHandlers,
    QueueHandlers,
    ForksHandlers,
    ConversationHandlers,
    AsksHandlers,
    AgentsHandlers,
    BackgroundHandlers,
    CompactionsHandlers,
    HooksHandlers,
    ReloadHandlers
  )
  const api = HttpApiBuilder.api(HarnessApi).pipe(Layer.provide(handlers), Layer.provide(AuthorizationLayer))
  const work = Servers.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(Models.layerLive(providerSettings), Tools.layer, Jobs.layer, Places.layer, Agents.layer)
    ),
    Layer.provide(Layer.mergeAll(HostHooksLayer, limits)),
    Layer.provide(Layer.succeed(WebAccess, webAccess(settings.allowPrivateUrls))),
    Layer.provide(
      Layer.succeed(ServersFolder, { data: settings.data, root: settings.root, durability: settings.durability })
    )
  )
  const beside = Layer.succeed(
    BesideApi,
    [JAMBONZ_PATH, CALL_PATH, ...APP_PATHS].map((path) => ({ path, open: true }))
  )
  return serve().pipe(
    Layer.provide(api),
    Layer.provide([JambonzRoutes, JambonzAppRoutes]),
    Layer.provide(beside),
    Layer.provide(offer),
    Layer.provideMerge(work),
    Layer.provideMerge(LiveSettings.layer(again)),
    Layer.provide(Layer.mergeAll(ServerInfo.layer(RELEASE), Draining.layer)),
    Layer.provideMerge(Tokens.layer({ data: settings.data, token: settings.token })),
    Layer.provideMerge(DaemonLog.layer({ level: settings.logLevel, ...output })),
    Layer.provideMerge(Redaction.layer([...secrets, ...keys, ...voice])),
    Layer.provideMerge(Settings.layer(settings))
  )
}

/** Starts a server for as long as the scope lives; its end drains it. Without `again` its settings stay as they are. */
export const startServer = (settings: SettingsValues, output: LogOutput, again?: SettingsAgain) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(layer(settings, output, again))
    const about = Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const models = yield* Models
      const redaction = yield* Redaction
      for (const secret of (yield* Tokens).secrets) yield* redaction.add(secret)
      const running: RunningServer = {
        url: urlOf(address),
        data: settings.data,
        root: settings.root,
        tokenFile: `${settings.data}/token`,
        providers: (yield* models.providers)
          .filter(({ connected, source }) => connected && source !== "builtin")
          .map(({ providerId }) => providerId),
        defaultModel: yield* models.defaultModel
      }
      return running
    })
    const running = yield* Effect.provide(about, context)
    yield* Effect.logInfo("listening").pipe(Effect.annotateLogs({ url: running.url, release: RELEASE }))
    return running
  })

const urlOf = (address: HttpServer.Address): string => {
  if (address._tag === "UnixAddress") return address.path
  const host = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname
  return `http://${host}:${address.port}`
}

export type StartError = ListenError | TokensError | ConflictError
