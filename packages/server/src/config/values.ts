import { isIP } from "node:net"
import { isAbsolute, join, resolve } from "node:path"
import { Either } from "effect"

/** Reads one setting, whatever it came as (typed flag, text of the environment, JSON); left says what is wrong. */
export type Reader<A> = (raw: unknown) => Either.Either<A, string>

const bad = (reason: string) => Either.left(reason)

export const port: Reader<number> = (raw) => {
  const text = String(raw)
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? Either.right(Number(text))
    : bad("must be a whole number from 0 to 65535")
}

const hostName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

/** An address to bind: an IP (IPv6 with or without brackets) or a host name. */
export const host: Reader<string> = (raw) => {
  const text = String(raw)
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
  return isIP(text) !== 0 || (text.length <= 253 && hostName.test(text))
    ? Either.right(text)
    : bad("must be an IP address or a host name, without a port")
}

export const oneOf =
  <const A extends string>(...allowed: ReadonlyArray<A>): Reader<A> =>
  (raw) => {
    const found = allowed.find((value) => value === raw)
    return found === undefined ? bad(`must be one of ${allowed.join(", ")}`) : Either.right(found)
  }

export const flag: Reader<boolean> = (raw) => {
  switch (String(raw).toLowerCase()) {
    case "true":
    case "1":
      return Either.right(true)
    case "false":
    case "0":
      return Either.right(false)
    default:
      return bad("must be true or false")
  }
}

/** A folder; relative ones start at `base`, `~` is the home folder. */
export const folder =
  (base: string, home: string): Reader<string> =>
  (raw) => {
    const text = String(raw)
    if (text.includes("\0")) return bad("must be a path")
    if (text === "~" || text.startsWith("~/")) return Either.right(join(home, text.slice(1)))
    return Either.right(isAbsolute(text) ? resolve(text) : resolve(base, text))
  }

/** A list, or text with commas between. */
export const list =
  <A>(each: Reader<A>): Reader<ReadonlyArray<A>> =>
  (raw) => {
    const items = Array.isArray(raw) ? raw.map(String) : String(raw).split(",")
    return Either.all(
      items
        .map((item) => item.trim())
        .filter((item) => item !== "")
        .map(each)
    )
  }

/** `scheme://host[:port]`, as a browser sends it. */
export const origin: Reader<string> = (raw) => {
  const text = String(raw).toLowerCase()
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(text)
    ? Either.right(text)
    : bad("must be origins like https://app.example, without path or wildcard")
}

/** A host name or address of a `Host` header, with a port (that one alone) or without (any). */
export const allowedHost: Reader<string> = (raw) => {
  const text = String(raw).toLowerCase()
  const [, name = "", , portText] = /^(\[[0-9a-f:.]+\]|[^:\s]*)(:(\d{1,5}))?$/.exec(text) ?? []
  const known = name.startsWith("[") ? isIP(name.slice(1, -1)) === 6 : isIP(name) === 4 || hostName.test(name)
  return known && (portText === undefined || Number(portText) <= 65_535)
    ? Either.right(text)
    : bad("must be host names, each with or without a port")
}

/** A model's name, or an alias the models decide about: `provider/model`. */
export const model: Reader<string> = (raw) => {
  const text = String(raw)
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\/\S{1,256}$/.test(text)
    ? Either.right(text)
    : bad("must be provider/model, like openai/gpt-5")
}

/** An http or https URL without credentials, query or fragment. */
export const baseUrl: Reader<string> = (raw) => {
  const text = String(raw)
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === ""
    ? Either.right(text)
    : bad("must be an http or https URL without credentials or query")
}

/** A secret as a header can carry it. */
export const secret: Reader<string> = (raw) => {
  const text = String(raw).trim()
  return /^[\x21-\x7e]{1,4096}$/.test(text)
    ? Either.right(text)
    : bad("must be visible ASCII characters without spaces")
}

/** Reachable from this machine alone. */
export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || (isIP(address) === 4 && address.startsWith("127."))

const CALLED_URL_MAX = 2048

/** A URL that hooks or webhooks are called at. */
export const calledUrl: Reader<string> = (raw) => {
  const text = String(raw)
  if (text.length > CALLED_URL_MAX) return bad(`must be at most ${CALLED_URL_MAX} characters`)
  if (!URL.canParse(text)) return bad("must be an absolute URL")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return bad("must begin with http: or https:")
  if (url.username !== "" || url.password !== "") return bad("must not hold credentials")
  if (url.hash !== "") return bad("must not have a fragment")
  return Either.right(text)
}

const SIGNING_SECRET_MAX = 512
const signingSecretForm = /^whsec_[A-Za-z0-9+/]+={0,2}$/

/** A secret that requests are signed with: `whsec_` and base64, as Standard Webhooks has it. */
export const signingSecret: Reader<string> = (raw) => {
  const text = String(raw)
  return text.length <= SIGNING_SECRET_MAX && signingSecretForm.test(text) && text.slice(6).length % 4 !== 1
    ? Either.right(text)
    : bad("must be whsec_ and base64 after it")
}
