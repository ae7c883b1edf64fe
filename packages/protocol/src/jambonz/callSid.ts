import { Schema } from "effect"
import { SessionId, TurnId } from "../ids.ts"

/** jambonz's id of a call. Short enough that `call-<call_sid>-<turn_id>` is an id of ours. */
export const CallSid = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9._-]{1,106}$/),
  Schema.brand("CallSid"),
  Schema.annotations({ identifier: "CallSid" })
)
export type CallSid = typeof CallSid.Type

/** A turn of a call, counted by jambonz: one more each time. */
export const TurnNumber = Schema.NonNegativeInt.annotations({ identifier: "TurnNumber" })
export type TurnNumber = typeof TurnNumber.Type

/** The session a call is. */
export const callSession = (callSid: CallSid): SessionId => SessionId.make(`call-${callSid}`)

/** The turn of that session which answers turn `turn_id` of the call. */
export const callTurn = (callSid: CallSid, turnNumber: TurnNumber): TurnId =>
  TurnId.make(`call-${callSid}-${turnNumber}`)
