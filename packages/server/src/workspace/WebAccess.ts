import { lookup } from "node:dns/promises"
import { Context } from "effect"

/** An address a host name has. */
export interface HostAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Every address of a host name; rejects when it has none. */
export type Lookup = (hostname: string) => Promise<ReadonlyArray<HostAddress>>

const systemLookup: Lookup = (hostname) =>
  lookup(hostname, { all: true, verbatim: true }).then((found) =>
    found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
  )

/** Where requests of the server's own may go. Unless something else is provided: to public addresses alone. */
export class WebAccess extends Context.Reference<WebAccess>()("@harness/server/WebAccess", {
  defaultValue: (): { readonly allowPrivateUrls: boolean; readonly lookup: Lookup } => ({
    allowPrivateUrls: false,
    lookup: systemLookup
  })
}) {}

/** The same with the one switch that people have: private addresses too. */
export const webAccess = (allowPrivateUrls: boolean): typeof WebAccess.Service => ({
  allowPrivateUrls,
  lookup: systemLookup
})
