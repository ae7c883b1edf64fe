import { type JsonObject, NotFoundError, type ServerName, schemaIssues, ValidationError } from "@harness/protocol"
import {
  ActionHook,
  type AgentVerb,
  CallSid,
  CallWebhook,
  callSession,
  EventHook,
  ToolHook,
  TurnNumber
} from "@harness/protocol/jambonz"
import { Effect, Either, Option, Schema } from "effect"
import { GENERAL } from "../agents/Agent.ts"
import { Agents } from "../agents/Agents.ts"
import { Home } from "../storage/Home.ts"
import { type Fact, WHOLE_CALL } from "../voice/FactsRepo.ts"
import { voiceOf } from "../voice/voiceOf.ts"
import { appVerb } from "./appVerb.ts"
import { keepFact } from "./facts.ts"

/** More than any hook says; what is longer is not kept, and refused. */
const FACT_BYTES_MAX = 65_536
const KIND_MAX = 64

/** Where our application was asked: the server, and whom the address names. */
export interface AppPlace {
  readonly server: ServerName
  readonly agent?: string | undefined
  /** The call, where the address names it. */
  readonly callSid?: string | undefined
}

const isObject = Schema.is(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const isCallSid = Schema.is(CallSid)
const isTurn = Schema.is(TurnNumber)

const noAgent = new NotFoundError({ code: "agent.not_found", message: "there is no agent of that name" })
const tooLong = new ValidationError({ code: "request.too_large", message: "this is more than a hook has to say" })

const read = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownEither(schema, { errors: "all" })
  return (body: unknown): Either.Either<A, ValidationError> =>
    Either.mapLeft(
      decode(body),
      (error) =>
        new ValidationError({
          code: "request.invalid",
          message: "this is no hook of jambonz",
          details: { issues: schemaIssues(error) }
        })
    )
}
const readCall = read(CallWebhook)
const readTool = read(ToolHook)
const readEvent = read(EventHook)
const readAction = read(ActionHook)

/** The body as it came: fields we do not know stay. */
const whole = (body: unknown): Either.Either<JsonObject, ValidationError> => {
  const text = JSON.stringify(body)
  return Buffer.byteLength(text) > FACT_BYTES_MAX ? Either.left(tooLong) : Either.right(JSON.parse(text))
}

const noCall = new ValidationError({ code: "request.invalid", message: "neither body nor address name the call" })

const callOf = (body: unknown, { callSid }: AppPlace): Either.Either<CallSid, ValidationError> => {
  const named = isObject(body) && body["call_sid"] !== undefined ? body["call_sid"] : callSid
  return isCallSid(named) ? Either.right(named) : Either.left(noCall)
}

const keep = (callSid: CallSid, body: unknown, fact: Pick<Fact, "kind" | "turn">) =>
  Effect.flatMap(whole(body), (kept) => keepFact(callSession(callSid), { ...fact, body: kept }))

/** A call has come: the verbs it is answered with. What was told of it is kept. */
export const answerCall = (body: unknown, place: AppPlace) =>
  Effect.gen(function* () {
    const home = yield* Home
    const agents = yield* Agents
    const call = yield* readCall(body)
    const name = place.agent ?? GENERAL
    const agent = yield* agents.find(home.root, name)
    if (Option.isNone(agent)) return yield* noAgent
    yield* keep(call.call_sid, body, { kind: "application", turn: WHOLE_CALL })
    const verb = appVerb({
      server: place.server,
      agent: name,
      voice: voiceOf(agent.value.voice),
      callSid: call.call_sid
    })
    const verbs: ReadonlyArray<AgentVerb> = [verb]
    return verbs
  })

/** What a tool of the application gives. There are none yet. */
export const runTool = (body: unknown) =>
  Effect.map(readTool(body), ({ tool_call_id }) => ({
    toolCallId: tool_call_id,
    data: { error: "there is no tool of that name" }
  }))

// The session has these from the call's own socket, and only what was heard of them.
const KNOWN_OTHERWISE = new Set(["user_transcript", "llm_response", "user_interruption"])

/** Something happened on a call. jambonz's statuses of calls come here too: they name no type. */
export const takeEvent = (body: unknown, place: AppPlace) =>
  Effect.gen(function* () {
    const callSid = yield* callOf(body, place)
    if (isObject(body) && body["type"] === undefined && body["call_status"] !== undefined) {
      return yield* keep(callSid, body, { kind: "call_status", turn: WHOLE_CALL })
    }
    const event = yield* readEvent(body)
    if (KNOWN_OTHERWISE.has(event.type)) return
    if (event.type === "turn_end") {
      const turn = isTurn(event["turn_id"]) ? event["turn_id"] : WHOLE_CALL
      return yield* keep(callSid, body, { kind: "turn_end", turn })
    }
    if (event.type === "harness_failure") {
      yield* Effect.logWarning("voice: jambonz gave this harness up").pipe(Effect.annotateLogs({ callSid }))
      return yield* keep(callSid, body, { kind: "harness_failure", turn: WHOLE_CALL })
    }
    yield* keep(callSid, body, { kind: `event:${event.type.slice(0, KIND_MAX)}`, turn: WHOLE_CALL })
  })

/** The verb is done, and why. */
export const takeDone = (body: unknown, place: AppPlace) =>
  Effect.gen(function* () {
    const callSid = yield* callOf(body, place)
    const done = yield* readAction(body)
    const reason = done.completion_reason
    yield* keep(callSid, reason === undefined || !isObject(body) ? body : { ...body, completion_reason: reason }, {
      kind: "done",
      turn: WHOLE_CALL
    })
  })
