import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { PermissionRequest, Question, TurnSnapshot } from "@harness/protocol"
import type { Answer, wire } from "./wire.ts"
import { readUntil, type WireEvent } from "./wire.ts"

type Api = () => Promise<ReturnType<typeof wire>>

/** The command line that counts one run under a name; needs `counter` in the folder. */
export const count = (name: string): string => `sh count.sh ${name}`

/** Puts a script into a folder that writes one line for each of its runs: a name, and the key the call was given. */
export const counter = (folder: string): void =>
  writeFileSync(join(folder, "count.sh"), `printf '%s %s\\n' "$1" "$HARNESS_IDEMPOTENCY_KEY" >> ran.txt\n`)

/** What `count` ran in a folder so far: names, in order. */
export const counted = (folder: string): ReadonlyArray<string> =>
  countedLines(folder).map((line) => line.split(" ")[0] ?? "")

/** The same with the keys of the calls. */
export const countedLines = (folder: string): ReadonlyArray<string> => {
  const file = join(folder, "ran.txt")
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
}

/** The tool parts of a turn, in order. */
export const callsOf = (turn: TurnSnapshot) => turn.parts.flatMap((part) => (part.type === "tool" ? [part] : []))

/** How each call of a turn ended: its state, and what was wrong with it. */
export const ends = (turn: TurnSnapshot): ReadonlyArray<string> =>
  callsOf(turn).map(({ result, state }) =>
    [state, result?.details?.["code"]].filter((word) => word !== undefined).join(" ")
  )

/** What a test does with turns that wait, and with what they wait for. */
export const asking = (api: Api) => ({
  /** The turn once it waits; a turn that ends instead is an error. */
  waits: async (home: string, turnId: string): Promise<TurnSnapshot> => {
    const settled = ({ data }: WireEvent) => data.turn !== undefined && !["queued", "running"].includes(data.turn.state)
    const frames = await readUntil((await api()).events(`${home}/turns/${turnId}/events`), settled)
    const { state } = frames.at(-1)?.data.turn ?? {}
    if (state !== "waiting") throw new Error(`${turnId} is ${state}, and was to wait`)
    return (await (await api()).get(`${home}/turns/${turnId}`)).body
  },
  /** Open requests for permission, oldest first. */
  open: async (home: string): Promise<ReadonlyArray<PermissionRequest>> =>
    (await (await api()).get(`${home}/permissions`)).body.permissions,
  questions: async (home: string): Promise<ReadonlyArray<Question>> =>
    (await (await api()).get(`${home}/questions`)).body.questions,
  reply: async (home: string, requestId: string, reply: string, message?: string): Promise<Answer> =>
    (await api()).post(`${home}/permissions/${requestId}/reply`, {
      reply,
      ...(message === undefined ? {} : { message })
    }),
  answer: async (home: string, questionId: string, answers: ReadonlyArray<ReadonlyArray<string>>): Promise<Answer> =>
    (await api()).post(`${home}/questions/${questionId}/reply`, { answers }),
  deliver: async (home: string, turnId: string, callId: string, body: object): Promise<Answer> =>
    (await api()).post(`${home}/turns/${turnId}/calls/${callId}/resolve`, body),
  prompt: async (home: string, turnId: string, content: string, more: object = {}): Promise<Answer> => {
    const made = await (await api()).put(`${home}/turns/${turnId}`, { content, ...more })
    if (made.status !== 202) throw new Error(`status ${made.status}: ${JSON.stringify(made.body)}`)
    return made
  }
})
