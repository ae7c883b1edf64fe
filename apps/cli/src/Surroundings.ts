import { Context, type Effect, type Option, type Scope } from "effect"
import type { CliFailure } from "./failures.ts"
import type { Style } from "./render/style.ts"

/** A signal that asks the program to end. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP"

/** One of the two streams the program writes to. */
export interface Writer {
  /** Waits while the reader does not take more. */
  readonly write: (text: string) => Effect.Effect<void>
  /** For a log, which cannot wait. */
  readonly push: (text: string) => void
  readonly isTerminal: boolean
  /** Characters to a line; only a terminal has an end of the line. */
  readonly columns: number
  /** Colours, or none of them. */
  readonly style: Style
}

/** The person in front of the program. */
export interface Terminal {
  /** Shows `query` and reads the line that is typed after it; what was typed before is no answer. None: no more will come. */
  readonly readLine: (query: string) => Effect.Effect<Option.Option<string>>
  /** Hears every key as it is pressed, unechoed, as long as the scope lasts. Ctrl-C is a signal as ever. */
  readonly keys: (hear: (text: string) => void) => Effect.Effect<void, never, Scope.Scope>
}

/** What a command may know of the process it runs in. Only `main.ts` looks at the process itself. */
export class Surroundings extends Context.Tag("@harness/cli/Surroundings")<
  Surroundings,
  {
    readonly argv: ReadonlyArray<string>
    readonly env: Readonly<Record<string, string | undefined>>
    readonly cwd: string
    readonly home: string
    readonly pid: number
    readonly nodeVersion: string
    readonly platform: string
    readonly out: Writer
    readonly err: Writer
    /** There when somebody reads what we say and can type. */
    readonly terminal: Option.Option<Terminal>
    readonly stdin: { readonly isTerminal: boolean; readonly text: Effect.Effect<string, CliFailure> }
    /** Comes when somebody asks us to end; a second time nobody is asked. */
    readonly stopped: Effect.Effect<StopSignal>
    /** Comes when nobody reads our output any more. */
    readonly unread: Effect.Effect<void>
  }
>() {}
