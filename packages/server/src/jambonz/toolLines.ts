import type { TurnId } from "@harness/protocol"
import { Effect } from "effect"
import type { LogRow } from "../log/fact.ts"
import { fromColumn } from "../storage/columns.ts"
import { isJambonz, TOOL_PREFIX } from "../voice/applicationTools.ts"
import { type Line, lineOf } from "../voice/lines.ts"
import { toolVoice, type Voice } from "../voice/voiceOf.ts"
import { sayLine } from "./sayLine.ts"
import type { Scene, ToolNews } from "./scene.ts"

/** What a row of the log tells of a call, where the agent has something to say to it. */
export const toolNewsOf = (voice: Voice, turnId: TurnId, row: LogRow): ToolNews | undefined => {
  if (Object.keys(voice.tools).length === 0) return undefined
  if (row.type === "turn.tool.requested") {
    const { call } = fromColumn<{ readonly call: { readonly callId: string; readonly name: string } }>(`{${row.body}`)
    const name = isJambonz(call.name) ? call.name.slice(TOOL_PREFIX.length) : call.name
    return { _tag: "Begins", turnId, callId: call.callId, name }
  }
  if (row.type === "turn.tool.completed") {
    const { callId, result } = fromColumn<{ readonly callId: string; readonly result: { readonly isError: boolean } }>(
      `{${row.body}`
    )
    return { _tag: "Ends", turnId, callId, isError: result.isError }
  }
  return undefined
}

const say = (scene: Scene, turnId: TurnId, line: Line | undefined) =>
  Effect.suspend(() => {
    const reply = scene.speaker.byTurn(turnId)
    if (line === undefined || reply === undefined || reply.over) return Effect.void
    // A filler right behind it would say the same.
    if (scene.reply === reply) scene.timers.set("filler", scene.voice.fillerEveryMillis)
    return sayLine(scene, reply, lineOf(line, scene.language))
  })

/** Says what an agent has to say of a tool: when a call of it begins, takes long, or failed. */
export const tellTool = (scene: Scene, news: ToolNews) =>
  Effect.gen(function* () {
    const { callId, turnId } = news
    const { working } = scene.control
    if (news._tag === "Begins") {
      const { delayed, start } = toolVoice(scene.voice, news.name)
      working.set(callId, { turnId, name: news.name })
      if (delayed !== undefined) scene.timers.set(`delayed:${callId}`, scene.voice.fillerEveryMillis)
      return yield* say(scene, turnId, start)
    }
    const known = working.get(callId)
    working.delete(callId)
    if (known === undefined) return
    const { delayed, failed } = toolVoice(scene.voice, known.name)
    if (delayed !== undefined) scene.timers.clear(`delayed:${callId}`)
    if (news.isError) yield* say(scene, turnId, failed)
  })

/** A call takes long. */
export const toolDelayed = (scene: Scene, callId: string) =>
  Effect.suspend(() => {
    const known = scene.control.working.get(callId)
    return known === undefined ? Effect.void : say(scene, known.turnId, toolVoice(scene.voice, known.name).delayed)
  })
