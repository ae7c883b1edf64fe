import { createServer } from "node:http"
import { expect, it } from "vitest"
import { textOf } from "../kit/caller.ts"
import { says } from "../kit/scriptedModel.ts"
import { voiceStage } from "../kit/voiceStage.ts"

const on = voiceStage({ early: "", late: "  speculation: off" }, { HARNESS_ALLOW_PRIVATE_URLS: "1" })

it("with speculation off nothing is asked before the turn starts", async () => {
  const caller = await on.call("off", "late")
  caller.speaks(1)
  caller.hears(1, "patience")
  await on.meanwhile()
  expect(on.answers().asked("patience").length).toBe(0)
  caller.commits(1, "patience")
  expect((await caller.reply()).said).toBe("You said: patience")
  expect(on.answers().asked("patience").length).toBe(1)
})

it("at most three drafts a turn, one alive at a time", async () => {
  const caller = await on.call("three")
  const texts = ["one", "one more", "one more time", "one more time please"]
  for (const text of texts) on.answers().on(text, [{ type: "stall", headers: true }], says(text))
  const drafts = []
  for (const text of texts.slice(0, 3)) {
    caller.hears(1, text)
    for (const before of drafts) expect((await before.closed).aborted).toBe(true)
    drafts.push(await on.answers().ask(text))
  }
  caller.hears(1, "one more time please")
  expect((await drafts[2]?.closed)?.aborted).toBe(true)
  await on.meanwhile()
  expect(on.answers().asked("one more time please").length).toBe(0)
  on.answers().on("one more time please", says("Again."))
  caller.commits(1, "one more time please")
  expect((await caller.reply()).said).toBe("Again.")
})

it("a draft nobody takes for ten seconds is dropped, and after ten seconds of speech none is begun", async () => {
  const caller = await on.call("ten")
  on.answers().on("well", [{ type: "stall", headers: true }])
  caller.speaks(1)
  caller.hears(1, "well")
  expect((await (await on.answers().ask("well")).closed).aborted).toBe(true)
  caller.hears(1, "well now")
  await on.meanwhile()
  expect(on.answers().asked("well now").length).toBe(0)
  caller.commits(1, "well now")
  expect((await caller.reply()).said).toBe("You said: well now")
}, 30_000)

it("a dropped draft leaves nothing in the log or the history, and neither does a crash", async () => {
  const caller = await on.call("crash")
  const cursor = async () => (await on.api().get(caller.session)).body.cursor
  on.answers().on("lost words", says("Words."), [{ type: "stall", headers: true }])
  caller.hears(1, "lost words")
  await (await on.answers().ask("lost words")).closed
  caller.cancels(1)
  caller.hears(2, "lost words")
  await on.answers().ask("lost words", 1)
  expect(await cursor()).toBe(1)
  await on.crash()
  const again = await on.call("crash", "early", { resumed: true })
  expect(await cursor()).toBe(1)
  again.commits(2, "found words")
  expect((await again.reply()).said).toBe("You said: found words")
  expect((await again.history()).map(textOf)).toEqual(["found words", "You said: found words"])
}, 60_000)

it("hooks are told of a draft that it is one, and what they add is part of it; their no is a no to the draft too", async () => {
  interface Asked {
    readonly id: unknown
    readonly point: string
    readonly speculative?: boolean
  }
  const asked: Array<Asked> = []
  let denied = false
  const hook = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk) => {
      text += chunk
    })
    request.on("end", () => {
      asked.push({ ...JSON.parse(text), id: request.headers["webhook-id"] })
      const answer = denied ? { decision: "deny" } : { mutations: { systemPrompt: { append: "Be kind." } } }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve))
  const address = hook.address()
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`
  for (const point of ["pre-turn", "pre-generate"]) {
    expect((await on.api().put(`/hooks/${point}`, { point, url })).status).toBeLessThan(300)
  }
  const caller = await on.call("hooked")
  caller.hears(1, "be nice")
  expect((await on.answers().ask("be nice")).text).toContain("Be kind.")
  caller.commits(1, "be nice")
  expect((await caller.reply()).said).toBe("You said: be nice")
  expect(on.answers().asked("be nice").length).toBe(1)
  expect(asked.map(({ point, speculative }) => [point, speculative])).toEqual([
    ["pre-turn", true],
    ["pre-generate", true],
    ["pre-turn", undefined],
    ["pre-generate", undefined]
  ])
  expect(new Set(asked.map(({ id }) => id)).size).toBe(4)
  denied = true
  caller.hears(2, "be quiet")
  while (asked.length < 5) await new Promise<void>((resolve) => setImmediate(resolve))
  denied = false
  await on.meanwhile()
  expect(on.answers().asked("be quiet").length).toBe(0)
  caller.commits(2, "be quiet")
  expect((await caller.reply()).said).toBe("You said: be quiet")
  hook.closeAllConnections()
  hook.close()
})
