import type { PermissionReplyRequestValue, QuestionItem } from "@harness/protocol"
import { Either } from "effect"

/** What a line typed at a permission request means; a Left says what would be understood. */
export const readReply = (line: string, mayAlways: boolean): Either.Either<PermissionReplyRequestValue, string> => {
  const [word = "", ...rest] = line.trim().split(/\s+/)
  const message = line.trim().slice(word.length).trim()
  switch (word.toLowerCase()) {
    case "r":
    case "reject":
    case "n":
    case "no":
      return Either.right({ reply: "reject", ...(message === "" ? {} : { message }) })
    case "o":
    case "once":
    case "y":
    case "yes":
      if (rest.length === 0) return Either.right({ reply: "once" })
      break
    case "a":
    case "always":
      if (rest.length > 0) break
      return mayAlways ? Either.right({ reply: "always" }) : Either.left("this cannot be allowed for good: o or r")
  }
  return Either.left(mayAlways ? "o, a or r" : "o or r")
}

/** Closes a question without an answer. */
export const REJECT = "/reject"

/** Which option somebody means: by its number, or by its label. */
const optionOf = (word: string, { options }: QuestionItem): string | undefined => {
  const wanted = word.trim().toLowerCase()
  const numbered = /^\d{1,4}$/.test(wanted) ? options[Number(wanted) - 1] : undefined
  return (options.find(({ label }) => label.trim().toLowerCase() === wanted) ?? numbered)?.label
}

/** Own words are an answer where they are asked for, and where there is nothing to choose from. */
export const takesWords = ({ custom, options }: QuestionItem): boolean => custom === true || options.length === 0

/** What a line typed at one thing that is asked means; a Left says what would be understood. */
export const readAnswer = (line: string, item: QuestionItem): Either.Either<ReadonlyArray<string>, string> => {
  const words = line.trim()
  if (words === "") return Either.left("there has to be an answer")
  const single = optionOf(words, item)
  if (single !== undefined) return Either.right([single])
  if (item.multiple === true) {
    const chosen = words.split(",").map((word) => optionOf(word, item))
    const labels = chosen.filter((label) => label !== undefined)
    if (labels.length === chosen.length) return Either.right([...new Set(labels)])
  }
  if (takesWords(item)) return Either.right([words])
  const range = item.options.length === 1 ? "1" : `1 to ${item.options.length}`
  return Either.left(item.multiple === true ? `numbers from ${range}, with commas` : `a number: ${range}`)
}
