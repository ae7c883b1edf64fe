import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { ServerName } from "@harness/protocol"
import { Redacted } from "effect"
import type { SettingsValues } from "../config/Config.ts"

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Whether what was brought is the secret, in a time that tells nothing of it. */
export const isSame = (brought: string, secret: string): boolean => timingSafeEqual(digest(brought), digest(secret))

/** The secret that calls of a server bring: its own, or everybody's. */
export const secretOf = (settings: SettingsValues, server: ServerName): string | undefined => {
  const own = settings.jambonzSecrets?.[server.toUpperCase().replaceAll("-", "_")] ?? settings.jambonzSecret
  return own === undefined ? undefined : Redacted.value(own)
}

const basic = /^Basic +([A-Za-z0-9+/=]+)$/i

/** The password of Basic authentication, whoever's it is. */
export const passwordOf = (authorization: string | undefined): string | undefined => {
  const encoded = basic.exec(authorization ?? "")?.[1]
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, "base64").toString("utf8")
  const colon = pair.indexOf(":")
  return colon < 0 ? undefined : pair.slice(colon + 1)
}

/** A signature older than this is somebody's copy, or somebody's clock is wrong. */
const SIGNED_WITHIN_SECONDS = 300

/** Whether a body was signed as jambonz does: `t=<seconds>,v1=<hex HMAC-SHA256 of "t.body">`, `v1` any number of times. */
export const isSigned = (header: string, body: Uint8Array, secret: string, nowMillis: number): boolean => {
  const fields = header.split(",").map((field) => field.trim().split("=", 2))
  const at = fields.find(([name]) => name === "t")?.[1] ?? ""
  if (!/^\d{1,12}$/.test(at) || Math.abs(nowMillis / 1000 - Number(at)) > SIGNED_WITHIN_SECONDS) return false
  const expected = createHmac("sha256", secret).update(`${at}.`).update(body).digest("hex")
  return fields.some(([name, value]) => name === "v1" && value !== undefined && isSame(value.toLowerCase(), expected))
}
