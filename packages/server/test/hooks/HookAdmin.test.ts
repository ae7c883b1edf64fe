import { assert, describe, it } from "@effect/vitest"
import { HookId, type PutHookRequestValue } from "@harness/protocol"
import { Effect } from "effect"
import { HookAdmin } from "../../src/hooks/HookAdmin.ts"
import { hooksLayer } from "./server.ts"

const gate = HookId.make("gate")
const request = { point: "pre-tool", url: "https://hooks.example/gate" } satisfies PutHookRequestValue

describe("a server's hooks", () => {
  it.scoped("have defaults, by point", () =>
    Effect.gen(function* () {
      const admin = yield* HookAdmin
      for (const point of ["pre-turn", "pre-generate", "post-generate", "pre-tool", "post-tool"] as const) {
        const { secret, ...hook } = yield* admin.put(HookId.make(point), { ...request, point })
        assert.deepEqual(hook, {
          hookId: HookId.make(point),
          point,
          url: request.url,
          priority: 0,
          timeoutMillis: 5000,
          onError: point.startsWith("pre") ? "fail_closed" : "fail_open"
        })
        assert.match(secret ?? "", /^whsec_[A-Za-z0-9+/]{43}=$/)
      }
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("a minted secret is told once, and kept; a chosen one is never told", () =>
    Effect.gen(function* () {
      const admin = yield* HookAdmin
      const [first, second] = yield* Effect.all([admin.put(gate, request), admin.put(gate, request)], {
        concurrency: "unbounded"
      })
      assert.strictEqual([first, second].filter(({ secret }) => secret !== undefined).length, 1)
      assert.notProperty(yield* admin.put(gate, { ...request, priority: 3 }), "secret")
      assert.notProperty(yield* admin.put(gate, { ...request, secret: "whsec_c2VjcmV0" }), "secret")
      const { hooks } = yield* admin.list("", 10)
      assert.lengthOf(hooks, 1)
      assert.notInclude(JSON.stringify(hooks), "whsec")
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("a PUT replaces: what is left out goes back to its default", () =>
    Effect.gen(function* () {
      const admin = yield* HookAdmin
      yield* admin.put(gate, { ...request, functions: ["shell"], priority: 2, timeoutMillis: 9, onError: "fail_open" })
      const { secret: _, ...again } = yield* admin.put(gate, { point: "post-tool", url: "http://other.example/" })
      assert.deepEqual(again, {
        hookId: gate,
        point: "post-tool",
        url: "http://other.example/",
        priority: 0,
        timeoutMillis: 5000,
        onError: "fail_open"
      })
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("are listed by id, page by page, and can be taken away, twice", () =>
    Effect.gen(function* () {
      const admin = yield* HookAdmin
      const ids = ["a", "b", "c"].map((id) => HookId.make(id))
      for (const id of ids.toReversed()) yield* admin.put(id, request)
      const first = yield* admin.list("", 2)
      assert.deepEqual([first.hooks.map(({ hookId }) => hookId), first.next], [ids.slice(0, 2), "b"])
      const second = yield* admin.list("b", 2)
      assert.deepEqual([second.hooks.map(({ hookId }) => hookId), second.next], [ids.slice(2), null])
      assert.deepEqual(yield* admin.remove(gate), { hookId: gate, removed: false })
      yield* admin.put(gate, request)
      assert.deepEqual(yield* admin.remove(gate), { hookId: gate, removed: true })
      assert.deepEqual(yield* admin.remove(gate), { hookId: gate, removed: false })
      assert.property(yield* admin.put(gate, request), "secret")
    }).pipe(Effect.provide(hooksLayer()))
  )

  it.scoped("a glob, URL or secret that cannot be meant is refused, and not quoted", () =>
    Effect.gen(function* () {
      const admin = yield* HookAdmin
      const refused = (changed: Partial<PutHookRequestValue>) =>
        Effect.flip(admin.put(gate, { ...request, ...changed }))
      const glob = yield* refused({ functions: ["shell", "[c4n4ry"] })
      assert.deepInclude(glob, { _tag: "ValidationError", code: "policy.invalid_glob" })
      assert.deepEqual(glob.details, {
        issues: [{ path: "functions[1]", reason: "knows * and ? only: no brackets, braces or backslashes" }]
      })
      for (const url of [
        "c4n4ry",
        "/c4n4ry",
        "ftp://c4n4ry.example/",
        "http://u:c4n4ry@h.example/",
        "http://h.example/#c4n4ry"
      ]) {
        const error = yield* refused({ url })
        assert.strictEqual(error.code, "request.invalid")
        assert.notInclude(JSON.stringify([error.message, error.details]), "c4n4ry")
      }
      for (const secret of ["c4n4ry", "whsec_", "whsec_c4n4ry!", "whsec_abcde"]) {
        const error = yield* refused({ secret })
        assert.deepEqual(error.details, { issues: [{ path: "secret", reason: "must be whsec_ and base64 after it" }] })
      }
      assert.deepEqual((yield* admin.list("", 10)).hooks, [])
    }).pipe(Effect.provide(hooksLayer()))
  )
})
