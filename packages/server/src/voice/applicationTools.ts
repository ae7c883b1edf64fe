import type { ExternalTool } from "@harness/protocol"
import type { CallTool } from "@harness/protocol/jambonz"

/** What the tools of the call's application are called in policies and in the log. */
export const TOOL_PREFIX = "jambonz."

export const isJambonz = (name: string): boolean => name.startsWith(TOOL_PREFIX)

/** A tool of the call's application, as its session has it. */
export const externalOf = (tool: CallTool): ExternalTool => ({
  name: `${TOOL_PREFIX}${tool.name}`,
  description: tool.description,
  inputSchema: tool.parameters
})
