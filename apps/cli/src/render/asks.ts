import type { PermissionRequest, Question, QuestionItem, SavedPermission } from "@harness/protocol"
import type { Style } from "./style.ts"
import { columns, count, harmless, oneLine, rowsOf, visible } from "./text.ts"

/** Where it is shown: how it looks, and how wide the screen is. */
export interface Page {
  readonly style: Style
  readonly columns: number
}

const MARGIN = 5
const NARROWEST = 20

/** Text of others, whole, behind a bar on every row: nothing in it can look like ours. */
const quoted = (text: string, { columns, style }: Page): string => {
  const width = Math.max(NARROWEST, columns - MARGIN)
  return visible(text)
    .split("\n")
    .flatMap((line) => rowsOf(line, width).map((row, at) => `  ${style.dim(at === 0 ? "│" : "┆")} ${row}\n`))
    .join("")
}

/** Who asks, when it is not the session somebody looks at. */
const whose = (asker: string, session: string | undefined) => (asker === session ? "" : ` in session ${asker}`)

/** What wants to be done, on one line. */
export const askTitle = ({ permission, title }: Pick<PermissionRequest, "permission" | "title">): string =>
  `${oneLine(visible(permission), 64)}: ${oneLine(visible(title), 200)}`

/** A permission request with all there is to decide on. `session`: the one somebody looks at. */
export const askText = (request: PermissionRequest, page: Page, session?: string): string => {
  const { always, detail, expiresAt, sessionId } = request
  const { style } = page
  return [
    `${style.yellow("?")} ${style.bold(askTitle(request))}${style.dim(whose(sessionId, session))}\n`,
    detail === "" ? "" : quoted(detail, page),
    expiresAt === undefined ? "" : style.dim(`  expires at ${expiresAt}\n`),
    always.length === 0
      ? ""
      : `  ${style.dim("always, in this session, would allow")}\n${quoted(always.join("\n"), page)}`
  ].join("")
}

/** One of the things a question asks, with its options by number. */
export const itemText = (item: QuestionItem, at: number, of: number, { style }: Page): string => {
  const header = item.header === "" ? "" : style.dim(` (${oneLine(item.header, 80)})`)
  const place = of === 1 ? "" : style.dim(` ${at + 1} of ${of}`)
  const [first = "", ...more] = harmless(item.question).trim().split("\n")
  const options = columns(
    item.options.map(({ description, label }, n) => [`  ${n + 1}`, oneLine(label, 200), oneLine(description, 300)])
  )
  return [
    `${style.yellow("?")} ${style.bold(first)}${header}${place}\n`,
    ...more.map((line) => `  ${line}\n`),
    ...options
      .map(([n = "", label = "", about = ""]) => [style.cyan(n), label, style.dim(about)].join("  ").trimEnd())
      .map((row) => `${row}\n`)
  ].join("")
}

/** Above what another session asks. */
export const askerText = ({ questions, sessionId }: Question, { style }: Page, session?: string): string => {
  const asker = whose(sessionId, session)
  return asker === "" ? "" : style.dim(`${count(questions.length, "question")}${asker}\n`)
}

/** A question with all it asks. */
export const questionText = (question: Question, page: Page, session?: string): string => {
  const { questions } = question
  return [
    askerText(question, page, session),
    ...questions.map((item, at) => itemText(item, at, questions.length, page))
  ].join("")
}

/** What is asked, on one line. */
export const questionTitle = ({ questions }: Pick<Question, "questions">): string =>
  oneLine(questions.map(({ question }) => question).join(" "), 300)

/** Permission requests, each with its id and whole. */
export const askListing = (requests: ReadonlyArray<PermissionRequest>, page: Page, session?: string): string =>
  requests.map((one) => `${page.style.cyan(one.requestId)}\n${askText(one, page, session)}`).join("")

/** Questions, each with its id and whole. */
export const questionListing = (questions: ReadonlyArray<Question>, page: Page, session?: string): string =>
  questions.map((one) => `${page.style.cyan(one.questionId)}\n${questionText(one, page, session)}`).join("")

/** What a grant allows, on one line. */
export const grantText = ({ patterns, permission }: Pick<SavedPermission, "patterns" | "permission">): string =>
  `${oneLine(visible(permission), 64)} ${patterns.map((pattern) => oneLine(visible(pattern), 200)).join(", ")}`

/** Grants, one to a line. */
export const grantTable = (grants: ReadonlyArray<SavedPermission>, style: Style): string =>
  columns(grants.map((one) => [one.grantId, one.createdAt, oneLine(one.actor.actorId, 40), grantText(one)]))
    .map(([id = "", at = "", actor = "", allows = ""]) => `${style.bold(id)}  ${style.dim(at)}  ${actor}  ${allows}\n`)
    .join("")
