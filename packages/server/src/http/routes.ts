import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { Authorization, type Scope } from "@harness/protocol"
import { Option } from "effect"
import { reachOf, scopeOf } from "../auth/Authorization.ts"

/** The longest part of a path the router looks at: an id of 128 characters, each up to 9 when percent-encoded. */
export const SEGMENT_MAX = 1152

/** What the edge has to know of one method of one path. */
export interface Route {
  /** Asks for no token: its group does not carry the `Authorization` middleware. */
  readonly open: boolean
  readonly scope: Scope
  readonly reach: "server" | "open" | "host"
  /** Has a payload; the others take no body. */
  readonly takesBody: boolean
}

/** A path of the API, whatever the method. */
export interface Place {
  readonly template: string
  readonly routes: ReadonlyMap<string, Route>
  /** The methods there are, for `Allow`. */
  readonly allow: string
}

/** A place and the server its path names. */
export interface Found {
  readonly place: Place
  readonly server: string | undefined
}

interface Node {
  readonly fixed: Map<string, Node>
  any: Node | undefined
  place: (Place & { routes: Map<string, Route>; allow: string }) | undefined
}

const node = (): Node => ({ fixed: new Map(), any: undefined, place: undefined })

const step = (at: Node, segment: string): Node => {
  if (segment.startsWith(":")) {
    at.any ??= node()
    return at.any
  }
  const next = at.fixed.get(segment) ?? node()
  at.fixed.set(segment, next)
  return next
}

/** Every route of the API by path, so that 404, 405 and what a route asks for are known before it runs. */
export const routeTable = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ((segments: ReadonlyArray<string>) => Found | undefined) => {
  const root = node()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      const at = endpoint.path.slice(1).split("/").reduce(step, root)
      at.place ??= { template: endpoint.path, routes: new Map(), allow: "" }
      const route = {
        open: ![...middleware].some((tag) => tag.key === Authorization.key),
        scope: scopeOf(endpoint.method, endpoint.path),
        reach: reachOf(endpoint.method, endpoint.path),
        takesBody: Option.isSome(endpoint.payloadSchema)
      }
      at.place.routes.set(endpoint.method, route)
      if (endpoint.method === "GET") at.place.routes.set("HEAD", route)
      at.place.allow = [...at.place.routes.keys()].toSorted().join(", ")
    }
  })

  const walk = (at: Node, segments: ReadonlyArray<string>, index: number): Place | undefined => {
    const segment = segments[index]
    if (segment === undefined) return at.place
    const fixed = at.fixed.get(segment)
    const found = fixed === undefined ? undefined : walk(fixed, segments, index + 1)
    if (found !== undefined || at.any === undefined || segment === "") return found
    return walk(at.any, segments, index + 1)
  }

  return (segments) => {
    const place = walk(root, segments, 0)
    if (place === undefined) return undefined
    return { place, server: place.template.startsWith("/v1/servers/:server") ? segments[2] : undefined }
  }
}
