import type { ErrorEvent } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { commandFailed } from "./commands.ts"
import { notSaid } from "./hearing.ts"
import { renew } from "./renew.ts"
import { settleRequest } from "./requests.ts"
import type { Reply } from "./Speaker.ts"
import { overlooked, type Scene } from "./scene.ts"

/** How a refusal of a turn's record is told from one of its reply, which has no other name. */
const isRecord = ({ code = "", message = "" }: ErrorEvent): boolean =>
  /record|too[ _-]?(large|big|long)|oversize/i.test(`${code} ${message}`)

const refusedReply = (scene: Scene, reply: Reply, event: ErrorEvent) => {
  if (reply.state === "done" && reply.record !== undefined && isRecord(event)) {
    return Effect.sync(() => scene.speaker.endWithoutRecord(reply))
  }
  return reply.resumedAt === undefined ? notSaid(scene, reply) : renew(scene, reply, reply.resumedAt)
}

/** `error`: something we sent was refused. What waited for it ends, and a reply nobody takes is not gone on with. */
export const refused = (scene: Scene, event: ErrorEvent) =>
  Effect.gen(function* () {
    const { code = "unknown", ref } = event
    const row = ref === undefined ? undefined : scene.requests.get(ref)
    const reply = ref === undefined ? undefined : scene.speaker.byId(ref)
    yield* overlooked(scene, `the other side refused something: ${code.slice(0, 128)}`)
    if (row?.kind === "command") return yield* commandFailed(scene, row, `it was refused (${code})`)
    if (row !== undefined) {
      const outcome = { content: `This was refused (${code}).`, isError: true, code: "call.refused" }
      return yield* settleRequest(scene, row, outcome)
    }
    if (reply !== undefined) yield* refusedReply(scene, reply, event)
  })
