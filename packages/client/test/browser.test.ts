import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { bundle } from "./browser/bundle.ts"
import { browserPath, emptyPage, inBareRealm, inChromium } from "./browser/places.ts"
import { proxy } from "./kit/proxy.ts"
import { realServer } from "./kit/realServer.ts"

const words = Array.from({ length: 120 }, (_, n) => `w${n + 1}`).join(" ")
const chromium = browserPath()

describe("the built client", () => {
  // Where no browser is installed, a realm without Node's globals shows that it needs none of them.
  it.scopedLive(`works in ${chromium === undefined ? "a bare realm" : "Chromium"}, with fetch alone`, () =>
    Effect.gen(function* () {
      const origin = yield* emptyPage
      const { baseUrl, token } = yield* realServer({ HARNESS_ALLOWED_ORIGINS: origin })
      const breaking = yield* proxy(baseUrl, (nth) => ({ cutAfter: 2_500 + nth * 400 }))
      const script = yield* Effect.promise(bundle)
      const told = { baseUrl, token, breaking: breaking.baseUrl }
      const found = yield* chromium === undefined
        ? inBareRealm(script, told)
        : inChromium(chromium, origin, script, told)
      expect(found).toMatchObject({
        text: words,
        grown: words,
        state: "completed",
        refused: { code: "auth.unknown", status: 401, retryable: false },
        gone: { code: "client.disconnected", retryable: true },
        aborted: true,
        nodeGlobals: []
      })
      expect(found.cursors).toEqual(Array.from({ length: found.head }, (_, n) => n + 1))
      expect(breaking.broken()).toBeGreaterThan(0)
    })
  )
})
