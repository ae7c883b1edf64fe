import type { LookupFunction } from "node:net"
import { isIP } from "node:net"
import { Data, Either } from "effect"
import ipaddr from "ipaddr.js"
import type { HostAddress, Lookup } from "./WebAccess.ts"

/** Why a request was not made, or came to nothing. Names no address. */
export class WebError extends Data.TaggedError("WebError")<{
  readonly code: "url.invalid" | "url.private" | "url.unreachable" | "url.timeout" | "url.broken"
  readonly message: string
}> {}

const URL_MAX_LENGTH = 8_192

/** Public by their range, and yet the insides of a cloud. */
const INSIDE = new Set(["168.63.129.16"])

const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3")

/**
 * Is it the address of somebody on the internet? Not private, loopback, link-local, shared, multicast, unspecified or
 * reserved, and none that carries an IPv4 address inside: where that leads, the range does not say.
 */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address) || isIP(address) === 0 || INSIDE.has(address)) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === "unicast" && (parsed.kind() === "ipv4" || parsed.match(GLOBAL_IPV6))
}

const invalid = (message: string) => new WebError({ code: "url.invalid", message })

/** The refusal of an address that is not public. */
export const privateAddress = new WebError({
  code: "url.private",
  message: "This address is private, local or reserved, and is not asked."
})

const bareHost = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1")

/** An http or https URL without credentials or fragment, and none that names a private address as it stands. */
export const readUrl = (text: string, allowPrivate: boolean): Either.Either<URL, WebError> => {
  if (text.length > URL_MAX_LENGTH) return Either.left(invalid("The URL is too long."))
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined)
    return Either.left(invalid("This is not a URL. It must be whole, like https://example.com/page."))
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return Either.left(invalid("Only http and https URLs can be fetched."))
  }
  if (url.username !== "" || url.password !== "")
    return Either.left(invalid("A URL cannot carry a user or a password."))
  url.hash = ""
  const host = bareHost(url)
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return Either.left(privateAddress)
  return Either.right(url)
}

/** What a lookup that refuses tells the connection. */
export class RefusedAddress extends Error {}

const fitting = (found: ReadonlyArray<HostAddress>, family: unknown): ReadonlyArray<HostAddress> =>
  family === 4 || family === 6 ? found.filter((address) => address.family === family) : found

/**
 * A lookup for a connection, which then goes to what was looked at and nowhere else: a name that means something else a
 * moment later gains nothing. One address that is not public refuses them all.
 */
export const guardedLookup =
  (lookup: Lookup, allowPrivate: boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname).then(
      (all) => {
        const found = fitting(all, options.family)
        const [first] = found
        if (!allowPrivate && !all.every(({ address }) => isPublicAddress(address))) {
          callback(new RefusedAddress(), "")
        } else if (first === undefined) callback(new Error("no address"), "")
        else if (options.all === true) callback(null, [...found])
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error("no address"), "")
    )
  }
