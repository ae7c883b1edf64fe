import { makeHarnessOpenApi } from "@harness/protocol"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { Surroundings } from "../Surroundings.ts"

/** The API as this program knows it. */
export const openapi: Running = Effect.flatMap(Surroundings, ({ out }) =>
  out.write(`${JSON.stringify(makeHarnessOpenApi(), null, 2)}\n`)
)
