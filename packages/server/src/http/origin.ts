import { ForbiddenError } from "@harness/protocol"

/** Which names this server answers to, and which pages may call it. */
export interface Doors {
  /** The address that was bound; a name of its own, unless it stands for every address. */
  readonly host: string
  readonly allowedHosts: ReadonlyArray<string>
  readonly allowedOrigins: ReadonlyArray<string>
}

const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/

const bracketed = (host: string) => (host.includes(":") ? `[${host}]` : host)

/**
 * The check against DNS rebinding: a page of another name that points here sends that name as `Host`.
 * Loopback names and the bound address pass with any port; allowed ones as they were configured.
 */
export const hostCheck = (doors: Doors): ((host: string | undefined) => boolean) => {
  const names = new Set(["localhost", "127.0.0.1", "[::1]", ...doors.allowedHosts])
  if (doors.host !== "0.0.0.0" && doors.host !== "::") names.add(bracketed(doors.host))
  let passed = "" // Most requests of a process say the same.
  return (host) => {
    if (host === undefined || host === "") return false
    if (host === passed) return true
    const lower = host.toLowerCase()
    const name = hostForm.exec(lower)?.[1]
    if (name === undefined || !(names.has(name) || names.has(lower))) return false
    passed = host
    return true
  }
}

/** Whether a page of this origin may call us: one we served ourselves, or one that is allowed. */
export const originCheck = (doors: Doors): ((origin: string, host: string) => boolean) => {
  const allowed = new Set(doors.allowedOrigins)
  return (origin, host) => {
    const lower = origin.toLowerCase()
    // https, too: someone may stand in front of us, and only that someone answers to this name.
    return allowed.has(lower) || lower === `http://${host.toLowerCase()}` || lower === `https://${host.toLowerCase()}`
  }
}

export const hostRefused = new ForbiddenError({
  code: "host.refused",
  message: "this server does not answer to that host; HARNESS_ALLOWED_HOSTS lists further names"
})
export const originRefused = new ForbiddenError({
  code: "origin.refused",
  message: "pages of that origin may not call this server; HARNESS_ALLOWED_ORIGINS lists those that may"
})

/** Headers that let a page read the answer. The exact origin, never a wildcard. */
export const originHeaders = (origin: string) => ({ "access-control-allow-origin": origin, vary: "origin" })

/** What a page may send; the answer to its preflight. */
export const preflightHeaders = {
  "access-control-allow-methods": "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS",
  "access-control-allow-headers": "authorization, content-type, ze-harness-client-id, x-request-id, last-event-id",
  "access-control-max-age": "600"
}
