import { Either, Option } from "effect"
import { htmlText } from "./htmlText.ts"
import { looksBinary } from "./text.ts"

const SNIFFED_BYTES = 2_048
const HTML = /^(text\/html|application\/xhtml\+xml)$/
const TEXT = /^text\/|[/+](json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-www-form-urlencoded)$/

/** The media type alone, and the name of its encoding, if any. */
const readType = (contentType: string): { readonly type: string; readonly charset: string | undefined } => {
  const [type = "", ...parameters] = contentType.split(";")
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(one)?.[1]).find(Boolean)
  return { type: type.trim().toLowerCase(), charset }
}

const declaredIn = (front: string): string | undefined =>
  /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w-]{1,40})/i.exec(front)?.[1]

const decoderOf = (charset: string | undefined): TextDecoder =>
  Either.getOrElse(
    Either.try(() => new TextDecoder(charset ?? "utf-8")),
    () => new TextDecoder("utf-8")
  )

/**
 * What an answer's body says, by its content type or, where that says nothing, by its look. None: it is no text.
 */
export const webText = (body: Uint8Array, contentType: string, url: string): Option.Option<string> => {
  const { charset, type } = readType(contentType)
  const front = Buffer.from(body.subarray(0, SNIFFED_BYTES)).toString("latin1")
  const isHtml = HTML.test(type) || (type === "" && /^\s{0,99}<(!doctype html|html)/i.test(front))
  const decoder = decoderOf(charset ?? (isHtml ? declaredIn(front) : undefined))
  if (!isHtml && !TEXT.test(type) && type !== "" && type !== "application/octet-stream") return Option.none()
  const isWide = decoder.encoding.startsWith("utf-16")
  if (!isWide && looksBinary(body)) return Option.none()
  const text = decoder.decode(body)
  return isHtml ? Either.getRight(htmlText(text, url)) : Option.some(text)
}
