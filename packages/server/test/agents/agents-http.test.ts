import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"

const { act, api, ended, place, prompt, request, session, sound } = loopStage()

const agentFile = (folder: string, name: string, text: string) => {
  const at = join(folder, ".harness", "agents")
  mkdirSync(at, { recursive: true })
  writeFileSync(join(at, name), text)
}

it("a session's agents are listed by name, page by page, with the files that are none", async () => {
  const home = await session("listed")
  agentFile(join(place.root, "listed"), "reviewer.md", "---\ndescription: Reviews\nmode: plan\n---\nReview.\n")
  agentFile(join(place.root, "listed"), "broken.md", "nothing")
  const { get } = await api()
  const all = await get(`${home}/agents`)
  expect(all.body.agents.map(({ name }: { name: string }) => name)).toEqual(["explore", "general", "plan", "reviewer"])
  expect(all.body.agents.at(-1)).toEqual({ name: "reviewer", description: "Reviews", mode: "plan", source: "workdir" })
  expect(all.body.next).toBeNull()
  expect(all.body.problems).toEqual([
    { path: "listed/.harness/agents/broken.md", reason: "has no front matter: its first line must be ---" }
  ])
  const page = await get(`${home}/agents?limit=2&after=explore`)
  expect([page.body.agents.length, page.body.next]).toEqual([2, "plan"])
  expect((await get("/sessions/nobody/agents")).status).toBe(404)
})

it("a file's agent brings its prompt and its tools; one that is not there is refused", async () => {
  mkdirSync(join(place.root, "worked"))
  agentFile(
    join(place.root, "worked"),
    "reader.md",
    "---\ndescription: Reads\ntools: [read]\n---\nYou only read, whatever is asked.\n"
  )
  const home = await session("worked", { agent: "reader" })
  act("worked", (_, step) => (step === 0 ? callsFor(["shell", { command: "touch x" }]) : says("done")))
  await prompt(home, "t", "worked: go")
  const turn = await ended(home, "t")
  expect(turn.agent).toBe("reader")
  expect(ends(turn)).toEqual(["rejected policy.denied"])
  const sent = JSON.stringify((await request("worked", 0)).body)
  expect(sent).toContain("You only read, whatever is asked.")
  await sound("worked")
  const unknown = await (await api()).put(`${home}/turns/u`, { content: "worked: go", agent: "nobody" })
  expect(unknown.status).toBe(400)
})
