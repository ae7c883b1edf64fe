import { Effect } from "effect"
import { Surroundings } from "../Surroundings.ts"
import type { Style } from "./style.ts"

/** An answer of the server: as it is for a program, in words for a person. */
export const answer = (json: boolean, value: unknown, words: (style: Style) => string) =>
  Effect.flatMap(Surroundings, ({ out }) => out.write(json ? `${JSON.stringify(value)}\n` : words(out.style)))

/** Says how to see the next page, when there is one. */
export const moreAfter = (json: boolean, next: string | null) =>
  Effect.flatMap(Surroundings, ({ err }) =>
    json || next === null ? Effect.void : err.write(`${err.style.dim(`there are more: --after ${next}`)}\n`)
  )
