/** What the instruction for a call is told by. */
export interface OnCall {
  /** What is spoken, as a BCP 47 tag; without one the caller's language is followed. */
  readonly language?: string
  /** What the model is called with of the control tools: `hangup`, `transfer`, … */
  readonly controls?: ReadonlyArray<string>
}

const MANNER = [
  "You are on a phone call: what you write is spoken aloud, and what you read was heard, perhaps wrongly.",
  "Speak as people do on the phone: one to three short sentences, plain words, no lists, headings, markup, code, links or emoji.",
  "Ask one question at a time, and wait for the answer.",
  "Say numbers, dates and times so that they can be followed by ear, and ask again when you did not understand."
]

const CONTROLS: Readonly<Record<string, string>> = {
  hangup: "When the caller is done, say goodbye and end the call with hangup in the same reply.",
  transfer: "When somebody else has to take over, say so and use transfer; say nothing after it."
}

const TAG = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/

/** What has an English name: a language, with a script and a region or without. */
const NAMED = /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?$/i

const inLanguage = (tag: string): string =>
  NAMED.test(tag) ? `${new Intl.DisplayNames(["en"], { type: "language" }).of(tag) ?? tag} (${tag})` : tag

/** The paragraph that a system prompt has on a call, and nowhere else. */
export const voiceInstruction = ({ controls = [], language }: OnCall = {}): string =>
  [
    ...MANNER,
    language !== undefined && TAG.test(language)
      ? `Answer in ${inLanguage(language)}.`
      : "Answer in the language the caller speaks.",
    ...controls.flatMap((name) => (Object.hasOwn(CONTROLS, name) ? [CONTROLS[name] ?? ""] : []))
  ].join(" ")
