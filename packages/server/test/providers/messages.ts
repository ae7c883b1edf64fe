import { CallId, type Part } from "@harness/protocol"
import { Schema } from "effect"
import type { ModelMessage } from "../../src/providers/Model.ts"

const callId = (number: number) => Schema.decodeSync(CallId)(`call_${String(number).padStart(26, "0")}`)

/** The `number`th call, as the history keeps it. */
export const call = (number: number, name: string, args: unknown): Part => ({
  type: "call",
  callId: callId(number),
  name,
  arguments: args
})

/** The result of the `number`th call. */
export const result = (number: number, name: string, text: string): Extract<ModelMessage, { role: "tool" }> => ({
  role: "tool",
  callId: callId(number),
  name,
  content: [{ type: "text", text }],
  isError: false
})
