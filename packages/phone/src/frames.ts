import type { JsonObject } from "@harness/protocol"

/** What a caller's turn brings. */
export type TurnInput =
  | { readonly type: "speech"; readonly text: string; readonly confidence?: number; readonly language: string }
  | { readonly type: "greeting" }
  | { readonly type: "no_input" }

/** Why a call is over. */
export type EndReason =
  | "caller_hangup"
  | "harness_hangup"
  | "application_hangup"
  | "application_redirect"
  | "transferred"
  | "error"

/** What happens on a call besides its turns. */
export type CallEvent =
  | {
      readonly name: "user_interruption"
      readonly turn_id?: number
      readonly reply_id: string
      readonly spoken: string
      readonly unspoken: string
    }
  | { readonly name: "reply_spoken"; readonly reply_id: string }
  | { readonly name: "reply_dropped"; readonly reply_id: string; readonly reason: "replaced" | "call_ended" }
  | { readonly name: "silence"; readonly seconds: number; readonly streak: number }
  | { readonly name: "dtmf"; readonly digits: string; readonly duration_ms?: number }
  | {
      readonly name: "transfer"
      readonly command_id: string
      readonly outcome: "bridged" | "failed" | "returned"
      readonly reason?: string
    }
  | {
      readonly name: "recording"
      readonly command_id: string
      readonly state: "started" | "stopped" | "paused" | "resumed"
      readonly by: "harness"
    }
  | { readonly name: "application_update"; readonly update_type: string; readonly data: unknown }
  | { readonly name: "error"; readonly code: RefusalCode; readonly message: string; readonly ref?: string }

/** Why a message of the harness was refused. */
export type RefusalCode =
  | "invalid_message"
  | "invalid_id"
  | "duplicate_id"
  | "turn_not_started"
  | "turn_record_too_large"

/** What jambonz says to the harness; the socket adds `call_sid`. */
export type ToHarness =
  | {
      readonly type: "session:start"
      readonly protocol: 1
      readonly account_sid: string
      readonly application_sid: string
      readonly direction: "inbound" | "outbound"
      readonly from: string
      readonly to: string
      readonly language: string
      readonly sip_headers: JsonObject
      readonly metadata: JsonObject
      readonly tools: ReadonlyArray<JsonObject>
      readonly resumed?: true
      readonly last_turn_id?: number
    }
  | { readonly type: "speech:start"; readonly turn_id: number }
  | {
      readonly type: "transcript"
      readonly turn_id: number
      readonly text: string
      readonly final: boolean
      readonly confidence?: number
    }
  | { readonly type: "turn:start"; readonly turn_id: number; readonly input: TurnInput }
  | { readonly type: "turn:cancel"; readonly turn_id: number; readonly reason: "barge_in" | "call_ended" }
  | ({ readonly type: "event" } & CallEvent)
  | { readonly type: "command:result"; readonly command_id: string; readonly ok: boolean; readonly error?: string }
  | { readonly type: "tool:result"; readonly call_id: string; readonly result?: unknown; readonly error?: string }
  | { readonly type: "session:end"; readonly reason: EndReason; readonly duration_ms: number }
