import type { Input } from "@harness/phone/floor"
import type { LiveCall } from "@harness/phone/LiveCall"
import { Effect, Runtime, type Scope } from "effect"
import type { Terminal } from "../Surroundings.ts"
import type { Conversation } from "./Conversation.ts"
import { type } from "./typing.ts"

const PRESS = /^\/press\s+([0-9A-D*#]+)$/

/** What a finished line does. One that begins with a slash was never said. */
const inputsOf = (line: string): ReadonlyArray<Input> => {
  const digits = PRESS.exec(line.trim())?.[1]
  if (digits !== undefined) return [{ _tag: "Presses", digits }]
  if (line.startsWith("/")) return []
  return [
    { _tag: "Recognized", text: line, final: true },
    { _tag: "Stops", text: line }
  ]
}

const isSpeech = (line: string) => line !== "" && !line.startsWith("/")

/** A person at the terminal on the phone: typing is speaking. Ends when they hang up, or the call does. */
export const talkAt = (
  terminal: Terminal,
  live: LiveCall,
  conversation: Conversation
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = Runtime.runSync(yield* Effect.runtime())
    const give = (inputs: ReadonlyArray<Input>) => {
      for (const input of inputs) run(live.input(input))
    }
    const hungUp = yield* Effect.makeLatch()
    let line = ""
    yield* terminal.keys((keys) => {
      for (const typed of type(line, keys)) {
        if (typed._tag === "Gone") hungUp.unsafeOpen()
        if (typed._tag === "Line") {
          if (isSpeech(typed.text) && !isSpeech(line)) give([{ _tag: "Interrupts" }])
          if (!isSpeech(typed.text) && isSpeech(line)) give([{ _tag: "Stops", text: "" }])
          line = typed.text
          conversation.type(line)
        }
        if (typed._tag === "Said") {
          const isBlank = typed.text.trim() === ""
          if (!isBlank) give(inputsOf(typed.text))
          else if (isSpeech(line)) give([{ _tag: "Stops", text: "" }])
          line = ""
          if (isBlank) conversation.type("")
          else conversation.said()
        }
      }
    })
    yield* Effect.raceFirst(hungUp.await, Effect.asVoid(live.report))
  })
