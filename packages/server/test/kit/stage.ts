import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect } from "vitest"
import { type Mortal, mortal } from "./crash.ts"
import { folders } from "./harness.ts"
import {
  requestProblems,
  type Script,
  type ScriptedModel,
  type ScriptedRequest,
  type Step,
  says,
  startScriptedModel
} from "./scriptedModel.ts"
import { type Answer, wire } from "./wire.ts"

/** What a model does with one request of a turn; `step` counts the turn's requests from 0. */
export type Act = (request: ScriptedRequest, step: number) => ReadonlyArray<Step> | Promise<ReadonlyArray<Step>>

interface Message {
  readonly role: string
  readonly content: unknown
}

/** The messages of a request, without the system's. */
export const messagesOf = ({ body }: ScriptedRequest): ReadonlyArray<Message> =>
  typeof body === "object" && body !== null && "messages" in body && Array.isArray(body.messages)
    ? body.messages.filter(({ role }) => role !== "system")
    : []

/** The text of a message, whichever way it is written. */
export const textOf = ({ content }: Message): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map(({ text }) => text ?? "").join("") : ""

/** A list, whole, however many pages it takes. */
export const pages = async (
  get: (path: string) => Promise<Answer>,
  path: string,
  name: string
): Promise<ReadonlyArray<Answer["body"]>> => {
  const found: Array<Answer["body"]> = []
  let place = ""
  for (;;) {
    const { body } = await get(`${path}?limit=500${place}`)
    found.push(...body[name])
    if (body.next === null) return found
    place = `&after=${body.next}`
  }
}

/** Allows a session every command line. */
export const ANY_COMMAND = { permissions: [{ permission: "shell", pattern: "*", action: "allow" }] }

/**
 * A server and a model for one test file. A prompt `NAME: …` is answered by what the test put under NAME, other prompts by
 * "ok"; unless the file brings a `script` of its own. A request that no provider would take fails the file.
 */
export const stage = (env: Readonly<Record<string, string>> = {}, own?: Script) => {
  const place = folders()
  const acts = new Map<string, Act>()
  const requests = new Map<string, Array<ScriptedRequest>>()
  const waiting = new Map<string, (request: ScriptedRequest) => void>()
  const problems: Array<string> = []
  let model: ScriptedModel
  let server: Mortal

  const byName = (request: ScriptedRequest) => {
    const prompts = messagesOf(request).filter(({ role }) => role === "user")
    const name = prompts
      .map((message) => /^([a-z0-9-]+):/.exec(textOf(message))?.[1])
      .findLast((found) => found !== undefined)
    const key = name ?? ""
    const known = requests.get(key) ?? []
    requests.set(key, known)
    known.push(request)
    waiting.get(`${key}/${known.length - 1}`)?.(request)
    return acts.get(key)?.(request, known.length - 1) ?? says("ok")
  }

  const script: Script = (request, index) => {
    problems.push(...requestProblems(request.body).map((problem) => `request ${index}: ${problem}`))
    return (own ?? byName)(request, index)
  }

  beforeAll(async () => {
    model = await startScriptedModel(script)
    server = await mortal({ ...place, openaiBaseUrl: model.url, env })
  })
  afterAll(async () => {
    await server.stop()
    await model.close()
    place.remove()
    expect(problems).toEqual([])
  })

  const api = async (name?: string) => wire(await server.up(), name)
  return {
    place,
    server: () => server,
    api,
    /** What the model does from now on when a prompt begins with `name:`. */
    act: (name: string, act: Act) => acts.set(name, act),
    /** What the model was asked under a name, so far. */
    requests: (name: string): ReadonlyArray<ScriptedRequest> => requests.get(name) ?? [],
    /** The index-th of them, waiting for it when it has not come yet. */
    request: (name: string, index: number): Promise<ScriptedRequest> => {
      const known = requests.get(name)?.[index]
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => waiting.set(`${name}/${index}`, resolve))
    },
    /** A session in a folder of its own, where every command line is allowed. */
    session: async (id: string, more: object = {}): Promise<string> => {
      mkdirSync(join(place.root, id), { recursive: true })
      const made = await (await api()).put(`/sessions/${id}`, { workdir: id, ...ANY_COMMAND, ...more })
      if (made.status !== 201) throw new Error(`status ${made.status}: ${JSON.stringify(made.body)}`)
      return `/sessions/${id}`
    },
    /** The turn once it has ended. */
    ended: async (home: string, turnId: string): Promise<Answer["body"]> => {
      const { body } = await (await api()).get(`${home}/turns/${turnId}`)
      const { prompt } = body
      for (;;) {
        const stream = (await api()).events(`${home}/turns/${turnId}/events`)
        for await (const { data, type } of stream) if (type === "turn.terminal") return { ...data.turn, prompt }
      }
    }
  }
}
