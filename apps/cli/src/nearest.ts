import * as AutoCorrect from "@effect/cli/AutoCorrect"
import * as CliConfig from "@effect/cli/CliConfig"

const config = CliConfig.make({ isCaseSensitive: true })

/** Which of these somebody who wrote `word` may have meant; none when none is near. */
export const nearestTo = (word: string, known: ReadonlyArray<string>): string | undefined => {
  if (word.length > 64) return undefined
  const limit = Math.max(1, Math.floor(word.length / 3))
  const [best] = known
    .map((name) => ({ name, far: AutoCorrect.levensteinDistance(word, name, config) }))
    .filter(({ far, name }) => far <= limit && far < name.length)
    .toSorted((a, b) => a.far - b.far)
  return best?.name
}
