import { HARNESS_PROTOCOL_VERSION } from "@harness/protocol"
import { Clock, Context, Effect, Layer } from "effect"

/** What this server says it is, and since when. */
export class ServerInfo extends Context.Tag("@harness/server/ServerInfo")<
  ServerInfo,
  {
    readonly release: string
    /** The `Ze-Harness-Version` of every answer. */
    readonly version: string
    readonly startedAtMillis: number
  }
>() {
  static readonly layer = (release: string) =>
    Layer.effect(
      ServerInfo,
      Effect.map(Clock.currentTimeMillis, (startedAtMillis) => ({
        release,
        version: `${HARNESS_PROTOCOL_VERSION}/${release}`,
        startedAtMillis
      }))
    )
}
