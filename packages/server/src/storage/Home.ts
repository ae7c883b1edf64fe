import type { ServerName } from "@harness/protocol"
import { Context } from "effect"

/** The server this database belongs to. */
export class Home extends Context.Tag("@harness/server/Home")<
  Home,
  {
    readonly server: ServerName
    /** Absolute; sessions work inside it. */
    readonly root: string
    /** Absolute; this server's own folder under the data folder. */
    readonly folder: string
  }
>() {}
