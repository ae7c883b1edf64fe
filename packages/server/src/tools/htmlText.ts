import { Either } from "effect"
import { convert, type FormatCallback } from "html-to-text"
import { Parser } from "htmlparser2"

/** A page that nests deeper, or has more elements, is cut there: the time it takes grows with the square of the depth. */
const DEPTH_MAX = 256
const ELEMENTS_MAX = 40_000

const skip = (selector: string) => ({ selector, format: "skip" })
const heading = (selector: string) => ({ selector, options: { uppercase: false } })
const cell = (selector: string) => ({ selector, format: "cell" })

// The library's own tables make as many cells as a page says a cell is wide.
const formatCell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder)
  builder.addLiteral(" | ")
}

const formatRow: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 })
  walk(element.children, builder)
  builder.closeBlock({ trailingLineBreaks: 1 })
}

/** The page up to where it becomes too deep or too long. */
const bounded = (html: string): string => {
  let depth = 0
  let elements = 0
  let end = html.length
  const parser = new Parser({
    onopentag: () => {
      depth += 1
      elements += 1
      if (depth <= DEPTH_MAX && elements <= ELEMENTS_MAX) return
      end = Math.min(end, parser.startIndex)
      parser.pause()
    },
    onclosetag: () => {
      depth -= 1
    }
  })
  parser.write(html)
  return html.slice(0, end)
}

const tidy = (text: string): string =>
  text
    .replaceAll("\u00a0", " ")
    .split("\n")
    .map((line) => line.trimEnd().replace(/ \|$/, ""))
    .join("\n")
    .trim()

/** What a page says, with where its links lead in brackets; none when it cannot be read. */
export const htmlText = (html: string, url: string): Either.Either<string, unknown> =>
  Either.try(() =>
    convert(bounded(html), {
      wordwrap: false,
      limits: { ellipsis: "[…]" },
      formatters: { cell: formatCell, row: formatRow },
      selectors: [
        ...["script", "style", "noscript", "template", "svg", "iframe", "img"].map(skip),
        ...["h1", "h2", "h3", "h4", "h5", "h6"].map(heading),
        ...["td", "th"].map(cell),
        { selector: "tr", format: "row" },
        {
          selector: "a",
          options: {
            hideLinkHrefIfSameAsText: true,
            noAnchorUrl: true,
            pathRewrite: (path: string) => (URL.canParse(path, url) ? new URL(path, url).href : path)
          }
        }
      ]
    })
  ).pipe(Either.map(tidy))
