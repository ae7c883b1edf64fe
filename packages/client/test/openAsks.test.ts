import { describe, expect, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { type Ask, OpenAsks } from "../src/OpenAsks.ts"
import { permission } from "./kit/asks.ts"

const ids = (asks: ReadonlyArray<Ask>) => asks.map(({ id }) => id)
const [a, b, c] = [permission(1), permission(2), permission(3)]

describe("open asks", () => {
  it("are each told once, and are gone when a later list misses them", () => {
    const asks = new OpenAsks()
    expect(ids(asks.look()([a, b]).opened)).toEqual([a.id, b.id])
    const second = asks.look()([b, c])
    expect(ids(second.opened)).toEqual([c.id])
    expect(second.gone).toEqual([a.id])
    expect(asks.look()([a, b, c])).toEqual({ opened: [], gone: [] })
    expect([a, b, c].map(({ id }) => asks.isOpen(id))).toEqual([false, true, true])
  })

  it("do not come back with a list that was under way when they were settled", () => {
    const asks = new OpenAsks()
    const take = asks.look()
    asks.settled(a.id)
    expect(ids(take([a, b]).opened)).toEqual([b.id])
    expect(asks.isOpen(a.id)).toBe(false)
  })

  it.prop(
    "whatever is asked, settled, listed and delivered when: what is told is right, and told once",
    [
      fc.array(
        fc.oneof(
          fc.record({ kind: fc.constant("ask" as const), n: fc.nat(5) }),
          fc.record({ kind: fc.constant("settle" as const), n: fc.nat(5) }),
          fc.record({ kind: fc.constant("request" as const) }),
          fc.record({ kind: fc.constant("answer" as const) }),
          fc.record({ kind: fc.constant("hear" as const) })
        ),
        { maxLength: 60 }
      )
    ],
    ([steps]) => {
      const asks = new OpenAsks()
      const [open, past, told] = [new Set<number>(), new Set<number>(), new Set<string>()]
      const settledUnheard: Array<number> = []
      let list: { readonly take: ReturnType<OpenAsks["look"]>; readonly said: ReadonlyArray<Ask> } | undefined
      const take = () => {
        const { opened } = list?.take(list.said) ?? { opened: [] }
        list = undefined
        for (const { id } of opened) {
          expect(told.has(id)).toBe(false)
          told.add(id)
        }
      }
      const hear = () => {
        const n = settledUnheard.shift()
        if (n !== undefined) asks.settled(permission(n).id)
      }
      for (const step of steps) {
        if (step.kind === "ask" && !past.has(step.n)) open.add(step.n)
        if (step.kind === "settle" && open.delete(step.n)) {
          past.add(step.n)
          settledUnheard.push(step.n)
        }
        if (step.kind === "request" && list === undefined) {
          list = { take: asks.look(), said: [...open].map(permission) }
        }
        if (step.kind === "answer") take()
        if (step.kind === "hear") hear()
      }
      while (settledUnheard.length > 0) hear()
      take()
      list = { take: asks.look(), said: [...open].map(permission) }
      take()
      for (const n of open) expect(asks.isOpen(permission(n).id)).toBe(true)
      for (const n of past) expect(asks.isOpen(permission(n).id)).toBe(false)
    }
  )
})
