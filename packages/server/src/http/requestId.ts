import { randomBytes } from "node:crypto"
import { encodeTime } from "ulid"

const wellFormed = /^[A-Za-z0-9._-]{1,128}$/
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** The client's own name for its request, if it is one that can be echoed. */
export const sentRequestId = (header: string | undefined): string | undefined =>
  header !== undefined && wellFormed.test(header) ? header : undefined

/** Mints request ids: ULIDs whose random part is this process's and then counts, which costs no randomness a request. */
export const requestIds = (): ((nowMillis: number) => string) => {
  const own = [...randomBytes(10)].map((byte) => DIGITS[byte & 31]).join("")
  let count = 0
  return (nowMillis) => {
    let tail = ""
    for (let rest = count++; tail.length < 6; rest = Math.floor(rest / 32)) tail = DIGITS.charAt(rest % 32) + tail
    return `http_${encodeTime(nowMillis, 10)}${own}${tail}`
  }
}
