import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { ends } from "../kit/asks.ts"
import { loopStage } from "../kit/loopStage.ts"
import { callsFor, says } from "../kit/scriptedModel.ts"

const { act, ended, inOrder, open, place, prompt, reply, session, sound, waits } = loopStage()

const allow = (permission: string, pattern: string) => ({ permission, pattern, action: "allow" })
const deny = (permission: string, pattern: string) => ({ permission, pattern, action: "deny" })

/** Lines that hold an allowed `git status`, and something else. */
const CHAINS = [
  "git status && touch x",
  "git status; touch x",
  "git status | touch x",
  "git status $(touch x)",
  "git status `touch x`",
  "git status\ntouch x",
  "git status & touch x",
  "(git status; touch x)",
  "git status || touch x",
  "if git status; then touch x; fi",
  "env A=1 touch x",
  "A=1 touch x",
  "sh -c 'touch x'",
  "git status > x",
  "git statusx; touch x",
  " touch x",
  "eval 'touch x'",
  'git status "$(touch x)"',
  "git status <<E\n$(touch x)\nE"
]

it("L8, L10: an allowed command allows nothing that is chained to it: each line is asked for, and nothing runs", async () => {
  const home = await session("chain", { permissions: [allow("shell", "git status")] })
  act("chain", (_, step) =>
    step === 0 ? callsFor(...CHAINS.map((command, n) => ["shell", { command }, `c${n}`] as const)) : says("done")
  )
  await prompt(home, "t", "chain: look around")
  const turn = await waits(home, "t")
  const asked = await inOrder(home, turn)
  expect(asked.map(({ detail }) => detail)).toEqual(CHAINS)
  expect(existsSync(join(place.root, "chain", "x"))).toBe(false)
  for (const { requestId } of asked) expect((await reply(home, requestId, "reject")).status).toBe(200)
  const turnEnded = await ended(home, "t")
  expect(ends(turnEnded)).toEqual(CHAINS.map(() => "rejected permission.rejected"))
  expect(existsSync(join(place.root, "chain", "x"))).toBe(false)
  await sound("chain")
})

it("L8: with a ban on touch, every one of these lines is denied; what cannot be read at all is at best a person's to allow", async () => {
  const touching = CHAINS.filter((line) => line.includes("touch"))
  const rules = [allow("shell", "*"), deny("shell", "touch")]
  const home = await session("ban", { permissions: rules })
  act("ban", (_, step) =>
    step === 0 ? callsFor(...touching.map((command, n) => ["shell", { command }, `c${n}`] as const)) : says("done")
  )
  await prompt(home, "t", "ban: look around")
  const asked: Array<string> = []
  await waits(home, "t")
  for (const { detail, requestId } of await open(home)) {
    asked.push(detail)
    await reply(home, requestId, "reject")
  }
  const turn = await ended(home, "t")
  expect(ends(turn)).toEqual(touching.map(() => "rejected permission.rejected"))
  expect(asked).toEqual(["eval 'touch x'"])
  expect(existsSync(join(place.root, "ban", "x"))).toBe(false)
})

it("an always for a chained line is one for each of its commands, and for no other line", async () => {
  const home = await session("save", { permissions: [] })
  const lines = ["echo a && echo b", "echo b", "echo b && echo c"]
  act("save", (_, step) => (step < 3 ? callsFor(["shell", { command: lines[step] }]) : says("done")))
  await prompt(home, "t", "save: go")
  const [first] = await inOrder(home, await waits(home, "t"))
  expect(first?.always).toEqual(["echo a", "echo b"])
  await reply(home, first?.requestId ?? "", "always")
  // The second line was covered by what was shown; the third holds a command nobody has seen.
  await waits(home, "t")
  const [third] = await open(home)
  expect(third?.detail).toBe(lines[2])
  await reply(home, third?.requestId ?? "", "reject")
  expect(ends(await ended(home, "t"))).toEqual(["completed", "completed", "rejected permission.rejected"])
})

it("L10: what lies outside the workdir is asked for, by whatever way it is reached, though reading is allowed", async () => {
  const home = await session("inside", { permissions: [allow("read", "*"), allow("edit", "*")] })
  const folder = join(place.root, "inside")
  mkdirSync(join(place.root, "outside"))
  writeFileSync(join(place.root, "outside", "secret.txt"), "SECRET")
  writeFileSync(join(folder, "own.txt"), "mine")
  symlinkSync(join(place.root, "outside"), join(folder, "link"))
  const calls = [
    ["read", { path: "own.txt" }],
    ["read", { path: "../outside/secret.txt" }],
    ["read", { path: "link/secret.txt" }],
    ["list", { path: ".." }],
    ["write", { path: "link/new.txt", content: "x" }],
    ["write", { path: "../outside/new.txt", content: "x" }],
    ["edit", { path: "link/secret.txt", find: "SECRET", replace: "gone" }]
  ] as const
  act("inside", (_, step) =>
    step === 0 ? callsFor(...calls.map(([name, args], n) => [name, args, `c${n}`] as const)) : says("done")
  )
  await prompt(home, "t", "inside: look around")
  const asked = await inOrder(home, await waits(home, "t"))
  expect(asked).toHaveLength(calls.length - 1)
  for (const [index, { requestId }] of asked.entries()) await reply(home, requestId, index === 0 ? "once" : "reject")
  const turn = await ended(home, "t")
  expect(ends(turn)).toEqual(["completed", "completed", ...calls.slice(2).map(() => "rejected permission.rejected")])
  expect(existsSync(join(place.root, "outside", "new.txt"))).toBe(false)
  await sound("inside")
})

it("the last rule that fits wins, and a session's rules stand after its agent's", async () => {
  const rules = [deny("shell", "*"), allow("shell", "echo *"), deny("shell", "echo no"), deny("read", "*.key")]
  const home = await session("last", { permissions: rules })
  writeFileSync(join(place.root, "last", "a.key"), "KEY")
  const calls = [
    ["shell", { command: "echo yes" }],
    ["shell", { command: "echo no" }],
    ["shell", { command: "true" }],
    ["read", { path: "a.key" }]
  ] as const
  act("last", (_, step) =>
    step === 0 ? callsFor(...calls.map(([name, args], n) => [name, args, `c${n}`] as const)) : says("ok")
  )
  await prompt(home, "t", "last: go")
  const rejected = "rejected permission.rejected"
  expect(ends(await ended(home, "t"))).toEqual(["completed", rejected, rejected, rejected])
})
