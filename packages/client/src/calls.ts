import { ResolveCallRequest } from "@harness/protocol"
import { Effect } from "effect"
import type { Api, Call } from "./api.ts"
import { type CallAt, callPath, parted } from "./input.ts"

const urlParams = {}
const input = parted(callPath, ResolveCallRequest)

/** Calls that wait for somebody outside. */
export const calls = (api: Api, call: Call) => ({
  /**
   * Gives a waiting call its result, or (`action: "execute"`) lets a held one run. The first settlement counts; after a lost
   * connection `resolved: false` may also mean that this very request settled it.
   */
  resolve: (at: CallAt & typeof ResolveCallRequest.Encoded) =>
    Effect.flatMap(input(at), ({ path, rest }) =>
      call(
        "calls.resolve",
        rest.action === "execute"
          ? api.calls().resolveCall({ path, urlParams, payload: rest })
          : api.calls().resolveCall({ path, urlParams, payload: rest })
      )
    )
})
