import { type AppAck, AppMessage, type ToolOutput, toolOutput } from "@harness/protocol/jambonz"
import { Effect, Either, Schema } from "effect"
import { type AppPlace, answerCall, runTool, takeDone, takeEvent } from "./application.ts"

const decode = Schema.decodeUnknownEither(Schema.parseJson(AppMessage))

/** A call's messages to our application, over a socket instead of webhooks: the same bodies, and the same answers. */
export const hearApp = (text: string, place: AppPlace) =>
  Effect.gen(function* () {
    const read = decode(text)
    const none: ReadonlyArray<AppAck | ToolOutput> = []
    if (Either.isLeft(read)) {
      yield* Effect.logWarning("voice: a message to the application makes no sense")
      return none
    }
    const { call_sid, data = {}, hook = "", msgid, type } = read.right
    const at: AppPlace = { ...place, callSid: call_sid ?? place.callSid }
    const body = { call_sid: at.callSid, ...data }
    const ack = (verbs?: AppAck["data"]): ReadonlyArray<AppAck | ToolOutput> =>
      msgid === undefined || msgid === ""
        ? none
        : [{ type: "ack", msgid, ...(verbs === undefined ? {} : { data: verbs }) }]
    switch (type) {
      case "session:new":
      case "session:redirect":
        return ack(yield* answerCall(body, at))
      case "agent:tool-call":
      case "llm:tool-call": {
        const { data: given, toolCallId } = yield* runTool("args" in data ? { arguments: data["args"], ...body } : body)
        return [toolOutput(toolCallId, given)]
      }
      case "agent:event":
      case "llm:event":
      case "call:status":
        yield* takeEvent(body, at)
        return none
      case "verb:hook":
        if (/\/done(\?|$)/.test(hook)) yield* takeDone(body, at)
        return ack()
      case "session:reconnect":
      case "dial:confirm":
        return ack()
      default:
        return none
    }
  })
