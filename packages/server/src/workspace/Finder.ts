import { Config, ConfigProvider, Context, Effect, Layer, Option, Stream } from "effect"
import { FinderError } from "./finder/finderError.ts"
import type { FileLines } from "./finder/lines.ts"
import { findRipgrep, ripgrepFiles, ripgrepLines } from "./finder/ripgrep.ts"
import { scan } from "./finder/scan.ts"
import { type Files, walk } from "./finder/walk.ts"
import type { OpenFolder } from "./openFolder.ts"
import type { PathError } from "./paths.ts"

export type { FileLines, Files, FinderError }

/** A NUL cannot be in a command line, and a line end is in no line. */
const notInALine = (pattern: string): boolean => /[\0\n]/.test(pattern)

const refused = new FinderError({
  code: "search.invalid_pattern",
  message: "The pattern cannot hold a line end or a NUL: it is looked for in one line at a time."
})

/** One way to look. All find the same. */
interface Engine {
  readonly name: "ripgrep" | "own"
  readonly files: (
    folder: OpenFolder,
    options: { readonly hidden: boolean }
  ) => Effect.Effect<Files, FinderError | PathError>
  readonly lines: (
    folder: OpenFolder,
    files: ReadonlyArray<string>,
    pattern: string
  ) => Stream.Stream<FileLines, FinderError>
}

const own: Engine = { name: "own", files: walk, lines: scan }

const ripgrep = (program: string): Engine => ({
  name: "ripgrep",
  files: (folder, options) => ripgrepFiles(program, folder, options),
  lines: (folder, files, pattern) => ripgrepLines(program, folder, files, pattern)
})

const guarded = (engine: Engine): Engine => ({
  ...engine,
  lines: (folder, files, pattern) => (notInALine(pattern) ? Stream.fail(refused) : engine.lines(folder, files, pattern))
})

/**
 * Finds files, and lines in files, by ripgrep's rules: ignore files are heard, what is hidden or binary is passed over, no
 * link is followed. Names are from the folder, sorted. Interrupted, it leaves nothing running.
 */
export class Finder extends Context.Tag("@harness/server/Finder")<Finder, Engine>() {
  /** Without any program of the machine's. */
  static readonly layerOwn = Layer.succeed(Finder, guarded(own))

  /** With this very `rg`. */
  static readonly layerRipgrep = (program: string) => Layer.succeed(Finder, guarded(ripgrep(program)))

  /** With the machine's ripgrep where it has one. */
  static readonly layer = Layer.effect(
    Finder,
    Effect.gen(function* () {
      const path = yield* Config.string("PATH").pipe(
        Config.withDefault("/usr/local/bin:/usr/bin:/bin"),
        Effect.withConfigProvider(ConfigProvider.fromEnv()),
        Effect.orDie
      )
      const program = yield* findRipgrep(path)
      return guarded(Option.match(program, { onNone: () => own, onSome: ripgrep }))
    })
  )
}
