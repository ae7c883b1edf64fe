import { createInterface } from "node:readline"
import { Effect, Option } from "effect"
import type { Terminal } from "./Surroundings.ts"

const CTRL_C = "\u0003"

/** Long enough for what lies in the terminal's buffer, too short for a new thought. */
const DRAIN = "30 millis"

const aTurnOfTheLoop = Effect.async<void>((resume) => {
  const soon = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(soon))
})

/** Throws away what was typed before: it was meant for something else, and may not allow anything. */
const drained = (input: NodeJS.ReadStream, interrupt: () => void) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const hear = (bytes: Buffer | string) => {
        if (bytes.toString().includes(CTRL_C)) interrupt()
      }
      input.setRawMode(true)
      input.on("data", hear)
      return hear
    }),
    // At least once the buffer is looked at, however late the clock is.
    () => Effect.zipRight(Effect.sleep(DRAIN), aTurnOfTheLoop),
    (hear) =>
      Effect.sync(() => {
        input.off("data", hear)
        input.pause()
        input.setRawMode(false)
      })
  )

/** Reads lines from a terminal. Between two of them it is left alone: Ctrl-C and Ctrl-Z work as ever. */
export const terminalOf = (
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  /** Ctrl-C, which a terminal that is read does not turn into a signal. */
  interrupt: () => void
): Terminal => ({
  keys: (hear) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const read = (bytes: Buffer | string) => {
          const text = bytes.toString()
          if (text.includes(CTRL_C)) interrupt()
          else hear(text)
        }
        input.setRawMode(true)
        input.setEncoding("utf8")
        input.on("data", read)
        return read
      }),
      (read) =>
        Effect.sync(() => {
          input.off("data", read)
          input.pause()
          input.setRawMode(false)
        })
    ),
  readLine: (query) =>
    Effect.zipRight(
      drained(input, interrupt),
      Effect.async<Option.Option<string>>((resume) => {
        const reading = createInterface({ input, output, terminal: true, historySize: 0 })
        const closed = () => {
          output.write("\n")
          resume(Effect.succeed(Option.none()))
        }
        reading.once("close", closed)
        reading.on("SIGINT", interrupt)
        reading.question(query, (line) => {
          reading.off("close", closed)
          reading.close()
          resume(Effect.succeed(Option.some(line)))
        })
        return Effect.sync(() => {
          reading.off("close", closed)
          reading.close()
          output.write("\n")
        })
      })
    )
})
