import { createHmac, randomBytes } from "node:crypto"

const PREFIX = "whsec_"
const SECRET_BYTES = 32

/** A secret nobody knows yet, in the form of Standard Webhooks. */
export const mintSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString("base64")

/** What is signed, and with what. */
export interface Signed {
  readonly secret: string
  /** The same for every try of one message. */
  readonly id: string
  readonly nowMillis: number
  readonly body: string
}

/** The headers a receiver checks a body with, as Standard Webhooks has them. */
export const signedHeaders = ({ body, id, nowMillis, secret }: Signed): Record<string, string> => {
  const timestamp = String(Math.floor(nowMillis / 1000))
  const key = Buffer.from(secret.slice(PREFIX.length), "base64")
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`
  }
}
