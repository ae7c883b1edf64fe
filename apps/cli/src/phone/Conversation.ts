import type { Output } from "@harness/phone/phoneCall"
import { harmless } from "../render/text.ts"
import type { Writer } from "../Surroundings.ts"

const CLEAR = "\r\u001b[2K"

/** A call as two people see it: who says what, word by word. On a terminal the caller's line is typed below it. */
export class Conversation {
  private readonly out: Writer
  private readonly typing: boolean
  /** Who has the line that is being written. */
  private line: "agent" | "you" | undefined
  private typed = ""
  /** The agent's words that came while the caller had the line. */
  private held = ""

  constructor(out: Writer, typing: boolean) {
    this.out = out
    this.typing = typing
  }

  /** Words, and ends of replies, as the caller hears them. */
  hear(output: Output): void {
    if (output._tag === "Word") this.word(output.word)
    if (output._tag === "Finished") this.finished(output.heard.cut)
    if (output._tag === "Sent" && output.frame.type === "turn:start" && !this.typing) {
      const { input } = output.frame
      if (input.type === "speech") this.whole(this.you, input.text)
    }
  }

  /** What the caller has typed so far; the first key takes the line. */
  type(text: string): void {
    if (this.line === "agent") this.out.push("\n")
    this.out.push(`${CLEAR}${this.you}${harmless(text)}`)
    this.line = "you"
    this.typed = text
  }

  /** The caller is done. */
  said(): void {
    this.out.push("\n")
    this.typed = ""
    this.line = undefined
    const held = this.held
    this.held = ""
    if (held !== "") this.whole(this.agent, held)
  }

  /** Nothing is written any more. */
  end(): void {
    if (this.line === "you" && this.typed === "" && this.typing) this.out.push(CLEAR)
    else if (this.line !== undefined) this.out.push("\n")
    this.line = undefined
  }

  private get agent(): string {
    return this.out.style.bold("agent  ")
  }

  private get you(): string {
    return this.out.style.dim("you    ")
  }

  private word(word: string): void {
    if (this.line === "you" && this.typed !== "") {
      this.held += word
      return
    }
    if (this.line === "you") this.out.push(CLEAR)
    const begins = this.line !== "agent"
    this.out.push(begins ? `${this.agent}${harmless(word.trimStart())}` : harmless(word.replaceAll("\n", " ")))
    this.line = "agent"
  }

  private finished(cut: boolean): void {
    if (this.line !== "agent") return
    this.out.push(cut ? " –\n" : "\n")
    this.line = undefined
    if (this.typing) this.type("")
  }

  private whole(who: string, text: string): void {
    if (this.line === "agent") this.out.push("\n")
    this.out.push(`${who}${harmless(text.trim())}\n`)
    this.line = undefined
  }
}
