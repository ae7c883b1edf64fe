/** What the scripted model is to say; a prompt is such a wish, as JSON. */
export interface Wish {
  readonly deltas: number
  /** Before the first delta. */
  readonly firstMillis?: number
  /** Between deltas. */
  readonly gapMillis?: number
  /** Each delta says when it was written. */
  readonly stamp?: boolean
  /** The last delta ends with `MARK-<mark>.` */
  readonly mark?: number
  /** Asks for this call first. */
  readonly call?: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  /** Never answers. */
  readonly hold?: boolean
}

export const markOf = (mark: number): string => `MARK-${mark}.`

/** A stamp as a delta carries it. */
export const stampIn = /"(?:delta|content)":"(\d+\.\d{3}) "/g

/** A Chat Completions request that asks for a wish. */
export const completion = (wish: Wish) => ({
  model: "bench",
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: "user", content: JSON.stringify(wish) }]
})
