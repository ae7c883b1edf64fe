import { messagesOf, textOf } from "./caller.ts"
import { wishes } from "./callScript.ts"
import { wait } from "./plannedModel.ts"
import { chance } from "./random.ts"
import { callsFor, requestProblems, type Script, type Step } from "./scriptedModel.ts"

const letters = "bdfgklmnprstvz"
const vowels = "aeiou"

/** A word for a number, so that no word is said twice: without digits, for a voice reads those its own way. */
const wordFor = (number: number): string => {
  let word = ""
  for (let left = number + 1; left > 0; left = Math.floor(left / 70)) {
    word += (letters[left % 14] ?? "") + (vowels[Math.floor((left % 70) / 14)] ?? "")
  }
  return word
}

/** Sentences of words that nobody else says. */
const sentences = (count: number, word: () => string, length: () => number): string =>
  Array.from({ length: count }, () => {
    const words = Array.from({ length: length() }, word)
    const [first = "", ...rest] = words
    return `${first[0]?.toUpperCase()}${first.slice(1)} ${rest.join(" ")}.`
  }).join(" ")

/** A model that answers as the last of the caller's words wishes, in words it never says again. */
export const callModel = () => {
  const problems: Array<string> = []
  let words = 0
  const script: Script = ({ body }, index) => {
    problems.push(...requestProblems(body))
    const dice = chance(index)
    const messages = messagesOf({ body })
    const last = messages.at(-1)
    const asked = last === undefined || last.role === "tool" ? "" : textOf(last).trim()
    const wish = wishes.find((one) => asked.endsWith(one)) ?? "talk"
    const word = () => wordFor(words++)
    const plain = (count: number) => sentences(count, word, () => dice.whole(2, 6))
    const pace = dice.pick([0, 0, 0, 3, 12])
    const spoken = (text: string): ReadonlyArray<Step> => {
      const size = dice.whole(6, 30)
      const steps: Array<Step> = []
      for (let at = 0; at < text.length; at += size) {
        if (at > 0 && pace > 0) steps.push(wait(pace))
        steps.push({ type: "text", text: text.slice(at, at + size) })
      }
      return steps
    }
    const stop: Step = { type: "finish", reason: "stop" }
    switch (wish) {
      case "tool":
        return callsFor(["look", { n: index }])
      case "talktool":
        return [...spoken(plain(1)), ...callsFor(["look", { n: index }])]
      case "bye":
        return [...spoken(plain(1)), ...callsFor(["hangup", { reason: "done" }])]
      case "pass":
        return [...spoken(plain(1)), ...callsFor(["transfer", {}])]
      case "long":
        return [...spoken(plain(dice.whole(4, 6))), stop]
      case "markup":
        return [
          ...spoken(`# ${word()} ${word()}\n\n- **${word()}** ${word()}\n- \`${word()}\` ${word()} 🎉\n\n${plain(2)}`),
          stop
        ]
      default:
        return [...spoken(plain(dice.whole(1, 3))), stop]
    }
  }
  return { script, problems }
}
