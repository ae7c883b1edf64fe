import type { ExternalTool } from "@harness/protocol"
import type { ToolSpec } from "../providers/Model.ts"
import type { Tool } from "../tools/Tool.ts"

/** Something a turn's model may call: a tool of ours, a client's, or one that the loop itself answers. */
export type Callable =
  | { readonly _tag: "Tool"; readonly name: string; readonly tool: Tool }
  | { readonly _tag: "External"; readonly name: string; readonly tool: ExternalTool }

const MODEL_NAME_MAX = 64

const sanitised = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, MODEL_NAME_MAX) || "tool"

const unused = (wanted: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(wanted)) return wanted
  for (let n = 2; ; n++) {
    const name = `${wanted.slice(0, MODEL_NAME_MAX - 1 - String(n).length)}_${n}`
    if (!taken.has(name)) return name
  }
}

/** A call's own tools are known by their own names, where those are free. */
const VOICE_PREFIX = "jambonz."

const wantedName = (name: string, taken: ReadonlySet<string>): string => {
  if (!name.startsWith(VOICE_PREFIX)) return sanitised(name)
  const own = sanitised(name.slice(VOICE_PREFIX.length))
  return taken.has(own) ? sanitised(name) : own
}

const specOf = (callable: Callable, name: string): ToolSpec => ({
  name,
  description: callable.tool.description,
  inputSchema: callable.tool.inputSchema
})

/**
 * The tools of one step, under names every provider takes: `[A-Za-z0-9_-]{1,64}`, all different, the same each time. Of equal
 * full names the later stands: a client's own in the place of ours.
 */
export class Toolbox {
  readonly specs: ReadonlyArray<ToolSpec>
  private readonly byModelName = new Map<string, Callable>()
  private readonly byName = new Map<string, Callable>()

  constructor(callables: ReadonlyArray<Callable>) {
    const taken = new Set<string>()
    const offered = new Map(callables.map((callable) => [callable.name, callable]))
    this.specs = [...offered.values()].map((callable) => {
      const name = unused(wantedName(callable.name, taken), taken)
      taken.add(name)
      this.byModelName.set(name, callable)
      this.byName.set(callable.name, callable)
      return specOf(callable, name)
    })
  }

  /** The full name of what the model called; its own word for what was never offered. */
  fullName(modelName: string): string {
    return this.byModelName.get(modelName)?.name ?? modelName
  }

  /** The name the model knows a tool by. */
  modelName(fullName: string): string {
    for (const [name, callable] of this.byModelName) if (callable.name === fullName) return name
    return sanitised(fullName)
  }

  find(fullName: string): Callable | undefined {
    return this.byName.get(fullName)
  }
}
