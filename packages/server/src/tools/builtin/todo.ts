import type { JsonObject } from "@harness/protocol"
import { Effect, Schema } from "effect"
import { textResult } from "../results.ts"
import type { Tool } from "../Tool.ts"

const ITEMS_MAX = 50
const TEXT_MAX_LENGTH = 250
const STATES = ["pending", "in_progress", "done"] as const

const Arguments = Schema.Struct({
  items: Schema.Array(Schema.Struct({ text: Schema.String, state: Schema.Literal(...STATES) }))
})

const inputSchema = {
  type: "object",
  properties: {
    items: {
      type: "array",
      maxItems: ITEMS_MAX,
      description: "The whole list, in order; it takes the place of the one before",
      items: {
        type: "object",
        properties: {
          text: { type: "string", minLength: 1, maxLength: TEXT_MAX_LENGTH, description: "What is to be done" },
          state: { enum: [...STATES], description: "How far it is; one at a time is in_progress" }
        },
        required: ["text", "state"],
        additionalProperties: false
      }
    }
  },
  required: ["items"],
  additionalProperties: false
}

const MARKS = { pending: "[ ]", in_progress: "[~]", done: "[x]" } as const

const decode = (args: JsonObject) => Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)

/** Keeps the list of what is to be done: the last result is the list. */
export const todoTool: Tool = {
  name: "todo",
  description:
    "Keeps a list of what is to be done, for work of several steps. Send the whole list each time something changes.",
  inputSchema,
  readOnly: true,
  needsPermission: false,
  resource: () =>
    Effect.succeed({ permission: "todo", patterns: ["todo"], title: "Keep a list", detail: "todo", outside: false }),
  run: (args) =>
    Effect.map(decode(args), (wanted) => {
      const items = wanted.items
        .map(({ state, text }) => ({ text: text.trim().replace(/\s+/g, " "), state }))
        .filter(({ text }) => text !== "")
      const done = items.filter(({ state }) => state === "done").length
      const lines = items.map(({ state, text }) => `${MARKS[state]} ${text}`)
      const text = items.length === 0 ? "[the list is empty]" : [`${done} of ${items.length} done`, ...lines].join("\n")
      return textResult(text, { items })
    })
}
