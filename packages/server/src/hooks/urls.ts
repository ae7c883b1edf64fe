import { Option } from "effect"

const URL_MAX = 2048

/** What is wrong with a URL that hooks or webhooks are to call; none when it can be called. Never quotes it. */
export const urlProblem = (text: string): Option.Option<string> => {
  if (text.length > URL_MAX) return Option.some(`must be at most ${URL_MAX} characters`)
  if (!URL.canParse(text)) return Option.some("must be an absolute URL")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return Option.some("must begin with http: or https:")
  if (url.username !== "" || url.password !== "") return Option.some("must not hold credentials")
  if (url.hash !== "") return Option.some("must not have a fragment")
  return Option.none()
}
