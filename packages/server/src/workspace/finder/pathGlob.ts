import { Either } from "effect"
import { RE2JS } from "re2js"
import { globSource } from "./globSource.ts"

const GLOB_MAX_LENGTH = 1_024

/** A glob over paths that `compileGlob` took. */
export interface PathGlob {
  /** A path from the searched folder, with slashes. */
  readonly matches: (path: string) => boolean
  /** It names something hidden, so what is hidden is looked through. */
  readonly hidden: boolean
}

const namesHidden = (glob: string): boolean => /(^|[/{,])\\?\.[^./]/.test(glob)

/**
 * A glob as ripgrep reads one: `*` and `?` stay in a name, `**` is any folders, `[a-z]`, `{a,b}`; without a slash it is
 * about names in any folder. Ours because it is the model's and runs over names that anybody chose: RE2 takes time in
 * proportion, whatever they are. Left: why it cannot be read.
 */
export const compileGlob = (glob: string): Either.Either<PathGlob, string> => {
  if (glob.length > GLOB_MAX_LENGTH) return Either.left(`A glob may have at most ${GLOB_MAX_LENGTH} characters.`)
  const named = glob.replace(/^(\.?\/)+/, "")
  const anywhere = named === glob && !/\/(?!$)/.test(named)
  const whole = named.endsWith("/") ? `${named}**` : named
  return Either.try({
    try: () => RE2JS.compile(`^${anywhere ? "(?:[^/]+/)*" : ""}(?:${globSource(whole)})$`, RE2JS.DOTALL),
    catch: () => "This glob cannot be read."
  }).pipe(Either.map((compiled) => ({ matches: (path) => compiled.matches(path), hidden: namesHidden(glob) })))
}
