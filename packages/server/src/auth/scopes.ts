import type { Scope } from "@harness/protocol"

/** The scope a route asks for. Any scope implies `read`; `admin` implies all; the others imply nothing. */
export const scopeOf = (method: string, template: string): Scope => {
  if (method === "GET" || method === "HEAD") return "read"
  if (adminRoutes.some((route) => route.test(template))) return "admin"
  if (method === "DELETE" && template === "/v1/servers/:server") return "admin"
  return approvals.some((route) => route.test(template)) ? "approve" : "write"
}

// What runs code, holds secrets or calls out on everybody's behalf.
const adminRoutes = [/^\/v1\/runtime\//, /^\/v1\/servers\/:\w+\/(hooks|webhooks)\b/, /\/plugins(\/|$)/]
const approvals = [/\/permissions\/:\w+\/reply$/, /\/questions\/:\w+\/(reply|reject)$/, /\/calls\/:\w+\/resolve$/]

/** Whether someone with these scopes may do what asks for `needed`. */
export const allows = (scopes: ReadonlyArray<Scope>, needed: Scope): boolean =>
  needed === "read" ? scopes.length > 0 : scopes.includes(needed) || scopes.includes("admin")

/**
 * What a token limited to some servers may reach: its servers, and what tells nothing of others.
 * `server`: the one in the path; `open`: anyone's; `host`: whole-host state, for unlimited tokens only.
 */
export const reachOf = (method: string, template: string): "server" | "open" | "host" => {
  if (template.startsWith("/v1/servers/:server")) return "server"
  if (template === "/v1/logs" || template === "/v1/metrics") return "host"
  return method === "GET" ? "open" : "host"
}
