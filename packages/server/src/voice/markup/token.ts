import type { Break } from "../spoken.ts"

/**
 * words ⇄ block of code (dropped to its end)
 *       ⇄ target of a link (dropped to its bracket)
 *       ⇄ path of an address (dropped to its end)
 */
export type Mode =
  | { readonly in: "words" }
  | { readonly in: "fence"; readonly mark: string; readonly length: number }
  | { readonly in: "target"; readonly depth: number }
  | { readonly in: "path"; readonly depth: number }

/** What kind of line a place is in. */
export type LineKind = "text" | "heading" | "row"

/** What was found at a place: how long it is, and what comes of it. */
export interface Token {
  readonly length: number
  readonly say?: string
  readonly part?: Break
  /** A picture was dropped here. */
  readonly picture?: true
  readonly enter?: Mode
  /** A bracket further on that is no text: what goes with it, and whether a target follows. */
  readonly closing?: { readonly at: number; readonly length: number; readonly target: boolean }
  /** Emphases open from here on. */
  readonly emphases?: number
  /** Marks that opened the code from here on; 0 outside. */
  readonly code?: number
  readonly line?: LineKind
  /** The number of a list's item. */
  readonly number?: number
}

/** What a place is told by, besides what comes after it. */
export interface Where {
  /** The character in front, "" at the beginning. */
  readonly before: string
  /** Nothing but marks of blocks before it on its line. */
  readonly fresh: boolean
  readonly line: LineKind
  readonly emphases: number
  readonly code: number
  /** The number of the item before. */
  readonly number: number
  /** A picture is right in front. */
  readonly picture: boolean
}
