import type { PermissionRequest, Question } from "@harness/protocol"

/** Something a turn, or one below it, waits for a person to say. */
export type Ask =
  | { readonly kind: "permission"; readonly id: string; readonly request: PermissionRequest }
  | { readonly kind: "question"; readonly id: string; readonly question: Question }

/**
 * Tells which asks are new and which are over, from lists and events in whatever order they come:
 *
 *   listed ──▶ open ──settled, or missing in a later list──▶ over, for good
 *
 * An ask that is over never comes back, also when a list says so that was under way when the ask was settled.
 */
export class OpenAsks {
  private readonly known = new Map<string, "open" | "over">()
  private settledMeanwhile: Set<string> | undefined

  /** A list is about to be asked for. Answers how to take what it will say. */
  look(): (listed: ReadonlyArray<Ask>) => {
    readonly opened: ReadonlyArray<Ask>
    readonly gone: ReadonlyArray<string>
  } {
    const before = [...this.known].flatMap(([id, state]) => (state === "open" ? [id] : []))
    const settled = new Set<string>()
    this.settledMeanwhile = settled
    return (listed) => {
      const there = new Set(listed.map(({ id }) => id))
      const opened = listed.filter(({ id }) => !this.known.has(id) && !settled.has(id))
      for (const { id } of opened) this.known.set(id, "open")
      const gone = before.filter((id) => this.known.get(id) === "open" && !there.has(id))
      for (const id of gone) this.known.set(id, "over")
      return { opened, gone }
    }
  }

  isOpen(id: string): boolean {
    return this.known.get(id) === "open"
  }

  /** An event says that an ask is settled. */
  settled(id: string): void {
    if (this.known.has(id)) this.known.set(id, "over")
    this.settledMeanwhile?.add(id)
  }
}
