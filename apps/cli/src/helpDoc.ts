import type * as HelpDoc from "@effect/cli/HelpDoc"
import type * as Span from "@effect/cli/HelpDoc/Span"

const spanText = (span: Span.Span): string => {
  switch (span._tag) {
    case "Sequence":
      return spanText(span.left) + spanText(span.right)
    case "Text":
    case "URI":
      return span.value
    default:
      return spanText(span.value)
  }
}

/** The paragraphs of a help document, as bare text: how it looks is for us to say. */
export const textOf = (help: HelpDoc.HelpDoc): ReadonlyArray<string> => {
  switch (help._tag) {
    case "Empty":
      return []
    case "Header":
    case "Paragraph":
      return [spanText(help.value)]
    case "Sequence":
      return [...textOf(help.left), ...textOf(help.right)]
    case "Enumeration":
      return help.elements.flatMap(textOf)
    case "DescriptionList":
      return help.definitions.flatMap(([name, about]) => [spanText(name), ...textOf(about)])
  }
}

/** What a help document says about each thing it describes, in order. */
export const describedItems = (help: HelpDoc.HelpDoc): ReadonlyArray<HelpDoc.HelpDoc> => {
  switch (help._tag) {
    case "Sequence":
      return [...describedItems(help.left), ...describedItems(help.right)]
    case "DescriptionList":
      return help.definitions.map(([, about]) => about)
    default:
      return []
  }
}
