import type { JsonObject } from "@harness/protocol"
import { Effect } from "effect"
import { errorResult } from "../results.ts"
import type { Tool } from "../Tool.ts"

/** A tool whose calls the loop answers: it is offered and checked like the others, and never run. */
const own = (name: string, description: string, inputSchema: JsonObject, readOnly: boolean): Tool => ({
  name,
  description,
  inputSchema,
  readOnly,
  answeredByLoop: true,
  resource: () => Effect.succeed({ permission: name, patterns: [name], title: name, detail: "", outside: false }),
  run: () => Effect.succeed(errorResult("tool.failed", `"${name}" is not run like other tools.`))
})

const text = (description: string) => ({ type: "string", description })
const globs = { type: "array", items: { type: "string", minLength: 1 } }

/** Asks a person; the turn waits for the answer, for days if need be. */
export const questionTool = own(
  "question",
  "Asks the person one or more questions and waits for the answers. Only for what you cannot find out yourself.",
  {
    type: "object",
    properties: {
      questions: {
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          properties: {
            question: { type: "string", minLength: 1, description: "The question, whole." },
            header: text("A few words that stand for the question."),
            options: {
              type: "array",
              items: {
                type: "object",
                properties: { label: text("What can be chosen."), description: text("What choosing it means.") },
                required: ["label", "description"]
              }
            },
            multiple: { type: "boolean", description: "More than one may be chosen." },
            custom: { type: "boolean", description: "An answer in own words is fine." }
          },
          required: ["question", "header", "options"]
        }
      }
    },
    required: ["questions"]
  },
  true
)

/** Gives a piece of work to a sub-agent. */
export const taskTool = own(
  "task",
  "Gives a piece of work to a sub-agent with a session of its own, and waits for its result. With background it goes on alongside.",
  {
    type: "object",
    properties: {
      prompt: {
        type: "string",
        minLength: 1,
        description: "Everything the sub-agent needs to know; it sees nothing else."
      },
      agent: text("Which agent works on it; general when left out."),
      title: text("A short name for it."),
      task_id: text("Goes on with a sub-agent you started before: its session id."),
      background: { type: "boolean", description: "Do not wait: the result comes later, as a new prompt." },
      model: text("provider/model, when not your own."),
      mode: { enum: ["agent", "plan", "ask"] },
      thinking: { enum: ["minimal", "low", "medium", "high", "xhigh"] },
      systemPrompt: text("Instructions instead of the agent's own."),
      tools: { type: "object", properties: { allow: globs, deny: globs } },
      output: { type: "object", description: "{type: text} or {type: json, schema?}" },
      maxSteps: { type: "integer", minimum: 1 },
      maxChildren: { type: "integer", minimum: 0 },
      pendingTimeoutMillis: { type: "integer", minimum: 1 }
    },
    required: ["prompt"]
  },
  false
)
