import type { CallResult, JsonObject } from "@harness/protocol"

/** A result of plain text. */
export const textResult = (text: string, details?: JsonObject): CallResult => ({
  content: [{ type: "text", text }],
  isError: false,
  ...(details === undefined ? {} : { details })
})

/** What went wrong, for the model: `message` in words, `code` for programs. */
export const errorResult = (code: string, message: string, details: JsonObject = {}): CallResult => ({
  content: [{ type: "text", text: message }],
  isError: true,
  details: { code, ...details }
})

/** The call names a tool that does not exist, or was not offered. */
export const notFound = (name: string): CallResult => errorResult("tool.not_found", `There is no tool "${name}" here.`)
