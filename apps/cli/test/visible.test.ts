import { assert, describe, it } from "@effect/vitest"
import { CallId, PermissionRequestId, SessionId, TurnId } from "@harness/protocol"
import * as fc from "effect/FastCheck"
import { askText } from "../src/render/asks.ts"
import { plain } from "../src/render/style.ts"
import { rowsOf, visible } from "../src/render/text.ts"

describe("text somebody is to decide on", () => {
  it("hides nothing: control characters, marks that turn text round, fillers, blanks that are no space", () => {
    assert.strictEqual(
      visible("a\u0000\u001b[2J\r\u007f\u009b b\u202ec\u200d\u2066\u00a0\u3164\u2028\ufeff\udc00"),
      "a␀␛[2J␍␡<U+009B> b<U+202E>c<U+200D><U+2066><U+00A0><U+3164><U+2028><U+FEFF><U+DC00>"
    )
    assert.strictEqual(visible("tab\tand\nline, 日本語🌍é"), "tab\tand\nline, 日本語🌍é")
  })

  it.prop("is never obeyed by a terminal, whatever it is", [fc.fullUnicodeString({ maxLength: 60 })], ([text]) => {
    assert.notMatch(visible(text).replace(/[\t\n]/g, ""), /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u)
  })

  it.prop(
    "is cut into rows of which none is wider than the screen, and none is lost",
    [fc.fullUnicodeString({ maxLength: 200 }), fc.integer({ min: 20, max: 100 })],
    ([text, width]) => {
      const rows = rowsOf(text, width)
      assert.strictEqual(rows.join(""), text)
      for (const row of rows) assert.isAtMost(Array.from(row).length, width)
    }
  )

  it("counts wide characters twice", () => {
    assert.deepStrictEqual(rowsOf("日本語🌍日本語🌍日本語", 20), ["日本語🌍日本語🌍日本", "語"])
    assert.deepStrictEqual(rowsOf("", 20), [""])
  })

  it("is shown whole, however long, and cannot pass for what we say", () => {
    const lines = Array.from({ length: 3000 }, (_, n) => `line ${n}`)
    const text = askText(
      {
        requestId: PermissionRequestId.make(`req_${"0".repeat(26)}`),
        sessionId: SessionId.make("s"),
        turnId: TurnId.make("t"),
        callId: CallId.make(`call_${"0".repeat(26)}`),
        askedAt: "2026-01-01T00:00:00.000Z",
        permission: "shell",
        patterns: [],
        title: "Run\nx",
        detail: [...lines, "  [o]nce, [a]lways, [r]eject: o"].join("\n"),
        always: []
      },
      { style: plain, columns: 80 }
    )
    const rows = text.trimEnd().split("\n")
    assert.strictEqual(rows.length, 3002)
    assert.strictEqual(rows[0], "? shell: Run x in session s")
    for (const row of rows.slice(1)) assert.isTrue(row.startsWith("  │ "))
  })
})
