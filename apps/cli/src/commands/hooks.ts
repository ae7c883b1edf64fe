import type { HookId, HookPoint, ServerName } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { connect, type Where } from "../connect.ts"
import { withoutUndefined } from "../present.ts"
import { answer, moreAfter } from "../render/answer.ts"
import { hookTable, hookText, secretText } from "../render/hooks.ts"
import { Surroundings } from "../Surroundings.ts"

interface Common extends Where {
  readonly server: ServerName
  readonly json: boolean
}

/** One page of a server's hooks. */
export const list = ({
  json,
  token,
  url,
  ...query
}: Common & { readonly limit: number | undefined; readonly after: string | undefined }): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect({ token, url })
    const page = yield* ask(client.hooks.list(query))
    yield* answer(json, page, (style) => hookTable(page.hooks, style))
    yield* moreAfter(json, page.next)
  })

/** Sets a hook. A secret that was made up is shown this once. */
export const set = (
  {
    functions,
    json,
    server,
    to,
    token,
    url,
    ...rest
  }: Common & {
    readonly point: HookPoint
    readonly to: string
    readonly functions: ReadonlyArray<string>
    readonly priority: number | undefined
    readonly timeoutMillis: number | undefined
    readonly onError: "fail_closed" | "fail_open" | undefined
    readonly secret: string | undefined
  },
  hookId: HookId
): Running =>
  Effect.gen(function* () {
    const { err } = yield* Surroundings
    const { ask, client } = yield* connect({ token, url })
    const { point, ...others } = rest
    const hook = yield* ask(
      client.hooks.put({
        server,
        hookId,
        point,
        url: to,
        ...withoutUndefined(others),
        ...(functions.length === 0 ? {} : { functions })
      })
    )
    yield* answer(json, hook, (style) => hookText(hook, style))
    if (!json && hook.secret !== undefined) yield* err.write(secretText(err.style))
  })

/** Takes a hook away. */
export const remove = ({ json, server, ...where }: Common, hookId: HookId): Running =>
  Effect.gen(function* () {
    const { ask, client } = yield* connect(where)
    const gone = yield* ask(client.hooks.delete({ server, hookId }))
    yield* answer(json, gone, () => `${hookId} ${gone.removed ? "is removed" : "is not there"}\n`)
  })
