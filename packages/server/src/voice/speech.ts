import { type Ahead, ahead, MORE, type More, runOf } from "./markup/ahead.ts"
import { blockAt } from "./markup/blockAt.ts"
import { characterBefore, isSpace } from "./markup/characters.ts"
import { inlineAt } from "./markup/inlineAt.ts"
import { pathAt } from "./markup/links.ts"
import { isPlain } from "./markup/plain.ts"
import type { LineKind, Mode, Token, Where } from "./markup/token.ts"
import { Spoken } from "./spoken.ts"

const WORDS: Mode = { in: "words" }

/**
 * What of a model's text is spoken, as it streams. Markup goes and its words stay; blocks of code, targets of links, tags
 * and emoji are dropped; an address is its host (`example.com`), which every voice reads in its own language; lists, rows,
 * headings and paragraphs become sentences. The whole is the same however the text was cut, and no more than
 * `HOLD_MAX` characters, and a few, wait for what comes next.
 */
export class SpeechCleaner {
  readonly #spoken = new Spoken()
  #text = ""
  #at = 0
  /** Characters that are no longer in `#text`. */
  #gone = 0
  #ended = false
  #mode: Mode = WORDS
  #fresh = true
  #line: LineKind = "text"
  #number = 0
  #emphases = 0
  #code = 0
  #picture = false
  /** Closing brackets that are no text, by their place in the whole. */
  readonly #closings = new Map<number, { readonly length: number; readonly target: boolean }>()
  /** Characters that were spoken before, and come once more. */
  #again = 0

  /** `spoken`: how the text began, as it was spoken. What is pushed goes on from there. */
  constructor(spoken = "") {
    this.#again = spoken.length - this.push(spoken).length
  }

  /** What can be spoken now. */
  push(delta: string): string {
    this.#text += delta
    return this.#new()
  }

  /** What still waited. Nothing comes after it. */
  end(): string {
    this.#ended = true
    return this.#new()
  }

  #new(): string {
    const text = this.#run()
    const again = Math.min(Math.max(0, this.#again), text.length)
    this.#again -= again
    return text.slice(again)
  }

  /** Characters that wait for what comes next. */
  get held(): number {
    return this.#text.length - this.#at
  }

  #run(): string {
    for (;;) {
      this.#plain()
      if (this.#at >= this.#text.length) break
      const taken = this.#next(ahead(this.#text, this.#at, this.#ended))
      if (taken === MORE) break
      this.#at += taken
    }
    // A character stays: what is in front of a mark decides what the mark is.
    const from = Math.max(0, this.#at - 2)
    this.#text = this.#text.slice(from)
    this.#gone += from
    this.#at -= from
    return this.#spoken.take()
  }

  /** Most of a text, the quick way: what is no mark within a line, and begins none. */
  #plain(): void {
    if (this.#mode !== WORDS || this.#fresh || this.#closings.size > 0) return
    const text = this.#text
    for (
      ;
      isPlain(text.charCodeAt(this.#at - 1), text.charCodeAt(this.#at), text.charCodeAt(this.#at + 1));
      this.#at++
    ) {
      const character = text.charAt(this.#at)
      if (character === " ") this.#spoken.part("space")
      else this.#spoken.say(character)
      this.#picture = false
    }
  }

  /** How many code units are settled by what stands here. */
  #next(look: Ahead): number | More {
    const character = look.character(0)
    if (character === undefined) return MORE
    const mode = this.#mode
    switch (mode.in) {
      case "fence":
        return this.#inFence(look, character, mode)
      case "target":
        return this.#inTarget(character, mode.depth)
      case "path": {
        const path = pathAt(look, mode.depth)
        if (path === MORE) return MORE
        this.#mode = path.length === 0 ? WORDS : { in: "path", depth: path.depth }
        return path.length
      }
      case "words":
        return this.#inWords(look, character)
    }
  }

  #inFence(look: Ahead, character: string, fence: Extract<Mode, { in: "fence" }>): number | More {
    if (character !== fence.mark) return character.length
    const run = runOf(look, fence.mark)
    if (run !== MORE && run >= fence.length) this.#mode = WORDS
    return run
  }

  #inTarget(character: string, depth: number): number {
    if (character === "\n") {
      this.#mode = WORDS
      return 0
    }
    const open = depth + (character === "(" ? 1 : character === ")" ? -1 : 0)
    this.#mode = open === 0 ? WORDS : { in: "target", depth: open }
    return character.length
  }

  #inWords(look: Ahead, character: string): number | More {
    if (isSpace(character)) return this.#space(character)
    const place = this.#gone + this.#at
    const closing = this.#closings.get(place)
    if (closing !== undefined) {
      this.#closings.delete(place)
      if (closing.target) this.#mode = { in: "target", depth: 1 }
      return closing.length
    }
    const where = this.#where()
    const block = where.fresh && where.code === 0 ? blockAt(look, character, where) : undefined
    const token = block ?? inlineAt(look, character, where)
    if (token === MORE) return MORE
    // Marks of one kind may follow each other: a list in a quotation.
    this.#fresh = block !== undefined && token?.line === undefined && token?.number === undefined
    this.#apply(token ?? { length: character.length, say: character })
    return token?.length ?? character.length
  }

  #space(character: string): number {
    this.#picture = false
    if (character !== "\n") {
      this.#spoken.part("space")
      return 1
    }
    this.#spoken.part(this.#fresh || this.#line !== "text" ? "sentence" : "space")
    if (this.#fresh) {
      this.#code = 0
      this.#emphases = 0
    }
    this.#fresh = true
    this.#line = "text"
    return 1
  }

  #where(): Where {
    return {
      before: characterBefore(this.#text, this.#at),
      fresh: this.#fresh,
      line: this.#line,
      emphases: this.#emphases,
      code: this.#code,
      number: this.#number,
      picture: this.#picture
    }
  }

  #apply(token: Token): void {
    const { closing, code, emphases, enter, line, number, part, picture, say } = token
    if (part !== undefined) this.#spoken.part(part)
    if (picture === true) this.#spoken.drop()
    if (say !== undefined) for (const character of say) this.#spoken.say(character)
    this.#picture = picture === true || (this.#picture && say === undefined)
    this.#mode = enter ?? this.#mode
    this.#line = line ?? this.#line
    this.#number = number ?? this.#number
    this.#emphases = emphases ?? this.#emphases
    this.#code = code ?? this.#code
    if (closing !== undefined) {
      this.#closings.set(this.#gone + this.#at + closing.at, { length: closing.length, target: closing.target })
    }
  }
}

/** A whole text as it is spoken. */
export const spokenText = (text: string): string => {
  const cleaner = new SpeechCleaner()
  return cleaner.push(text) + cleaner.end()
}
