import type { ScriptedRequest, Step } from "./scriptedModel.ts"
import { says } from "./scriptedModel.ts"
import { type Act, messagesOf, type stage, textOf } from "./stage.ts"

/** Whether a request asks for the summary of a history. */
export const asksForSummary = (request: ScriptedRequest): boolean => {
  const [first, ...others] = messagesOf(request)
  return others.length === 0 && first !== undefined && textOf(first).startsWith("Summarise this conversation.")
}

/** A summary that still says whose history it stands for. */
export const summaryFor = (name: string): ReadonlyArray<Step> => says(`It is about ${name}: so it went.`)

/**
 * Lets a test say how a history is summarised, by the `name:` of a prompt in it; without a say it is done shortly. Turns whose
 * own prompt went into a summary go on as their name says.
 */
export const summaries = (on: Pick<ReturnType<typeof stage>, "act">) => {
  const acts = new Map<string, Act>()
  const rest = new Map<string, Act>()
  const asked = new Map<string, Array<ScriptedRequest>>()
  const waiting = new Map<string, (request: ScriptedRequest) => void>()

  on.act("", (request, step) => {
    const text = messagesOf(request).map(textOf).join("\n")
    const name = [...text.matchAll(/([a-z0-9-]+):/g)]
      .map(([, found = ""]) => found)
      .find((found) => acts.has(found) || rest.has(found))
    if (!asksForSummary(request)) return rest.get(name ?? "")?.(request, step) ?? says("ok")
    const known = asked.get(name ?? "") ?? []
    asked.set(name ?? "", known)
    known.push(request)
    waiting.get(`${name}/${known.length - 1}`)?.(request)
    return acts.get(name ?? "")?.(request, known.length - 1) ?? summaryFor(name ?? "nobody")
  })

  return {
    /** How histories with a prompt `name:` are summarised from now on; `step` counts from 0. */
    summarise: (name: string, act: Act) => {
      acts.set(name, act)
    },
    /** What the model does in a turn of that name once its prompt is part of a summary. */
    afterwards: (name: string, act: Act) => {
      rest.set(name, act)
    },
    /** Requests for summaries of that name, so far. */
    summarised: (name: string): ReadonlyArray<ScriptedRequest> => asked.get(name) ?? [],
    /** The index-th of them, waiting for it when it has not come yet. */
    summary: (name: string, index: number): Promise<ScriptedRequest> => {
      const known = asked.get(name)?.[index]
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => waiting.set(`${name}/${index}`, resolve))
    }
  }
}
