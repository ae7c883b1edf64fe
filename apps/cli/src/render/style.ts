import { styleText } from "node:util"

type Paint = (text: string) => string

/** How words look. Without colours every one of these leaves the text as it is. */
export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

const same: Paint = (text) => text

/** No colours. */
export const plain: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }

type Format = keyof Style

// Whether there is a terminal was decided by whoever asks for colours.
const paint =
  (format: Format): Paint =>
  (text) =>
    text === "" ? "" : styleText(format, text, { validateStream: false })

/** The colours of a terminal. */
export const coloured: Style = {
  bold: paint("bold"),
  dim: paint("dim"),
  red: paint("red"),
  green: paint("green"),
  yellow: paint("yellow"),
  cyan: paint("cyan")
}

/** Colours for a terminal that has them and whose owner did not say no (`NO_COLOR`). */
export const styleFor = (
  isTerminal: boolean,
  env: { readonly NO_COLOR?: string | undefined; readonly TERM?: string | undefined }
): Style => (isTerminal && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb" ? coloured : plain)
