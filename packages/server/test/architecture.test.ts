import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const top = fileURLToPath(new URL("../../..", import.meta.url))

/** Rooms of the server, lowest first. A file imports rooms of its own level and below, never above. */
const levels = [
  ["auth"],
  ["config"],
  ["storage"],
  ["log", "workspace", "permissions", "questions", "usage", "voice"],
  ["providers", "agents"],
  ["models", "tools"],
  ["hooks"],
  ["sessions"],
  ["history"],
  ["turns"],
  ["compaction"],
  ["engine", "forks", "tasks", "asks"],
  ["loop"],
  ["jambonz"],
  ["servers"],
  ["http"],
  ["main.ts"]
]

/** What each package may import of the others. */
const arrows: Record<string, ReadonlyArray<string>> = {
  "packages/protocol": [],
  "packages/client": ["@harness/protocol"],
  "packages/server": ["@harness/protocol"],
  "packages/phone": ["@harness/protocol"],
  "apps/cli": ["@harness/protocol", "@harness/client", "@harness/phone", "@harness/server"]
}

/** `protocol` stands on these alone, and so does everything that imports it. */
const protocolMayImport = ["effect", "@effect/platform"]

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name))

const importsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))

const levelOf = (room: string): number => levels.findIndex((rooms) => rooms.includes(room))

/** A room's `http.ts` translates between the edge and the rooms, so it stands above them all, just below `main.ts`. */
const levelOfFile = (path: string): number => {
  const [room = "", file = ""] = path.split("/")
  const asHigh = ["servers/stream.ts", "jambonz/door.ts", "jambonz/app.ts"]
  return file === "http.ts" || asHigh.includes(`${room}/${file}`) ? levels.length - 1.5 : levelOf(room)
}

it("every room of the server has its level", () => {
  const rooms = readdirSync(join(top, "packages/server/src"))
  expect(rooms.filter((room) => levelOf(room) < 0)).toEqual([])
})

it("a lower room never imports a higher one", () => {
  const source = join(top, "packages/server/src")
  const wrong = filesOf(source).flatMap((file) => {
    const from = relative(source, file)
    return importsOf(readFileSync(file, "utf8"))
      .filter((name) => name.startsWith("."))
      .map((name) => relative(source, join(file, "..", name)))
      .filter((to) => levelOfFile(to) > levelOfFile(from))
      .map((to) => `${from} → ${to}`)
  })
  expect(wrong).toEqual([])
})

it("packages point one way", () => {
  const wrong = Object.entries(arrows).flatMap(([folder, allowed]) =>
    filesOf(join(top, folder, "src")).flatMap((file) =>
      importsOf(readFileSync(file, "utf8"))
        .filter((name) => name.startsWith("@harness/"))
        .filter((name) => !allowed.some((one) => name === one || name.startsWith(`${one}/`)))
        .map((name) => `${relative(top, file)} → ${name}`)
    )
  )
  expect(wrong).toEqual([])
})

it("only the server command of the CLI starts a server", () => {
  const mayStart = /^apps\/cli\/src\/((commands|render)\/(server|tokens?|doctor)|dataFolder)\.ts$/
  const wrong = filesOf(join(top, "apps/cli/src"))
    .filter((file) => importsOf(readFileSync(file, "utf8")).some((name) => name.startsWith("@harness/server")))
    .map((file) => relative(top, file))
    .filter((file) => !mayStart.test(file))
  expect(wrong).toEqual([])
})

it("the protocol imports effect and @effect/platform alone", () => {
  const wrong = filesOf(join(top, "packages/protocol/src")).flatMap((file) =>
    importsOf(readFileSync(file, "utf8"))
      .filter((name) => !name.startsWith("."))
      .filter((name) => !protocolMayImport.some((one) => name === one || name.startsWith(`${one}/`)))
      .map((name) => `${relative(top, file)} → ${name}`)
  )
  expect(wrong).toEqual([])
})

it("no queue is without a bound, and time and chance come from Effect", () => {
  const forbidden = [
    /\b(?:PubSub|Queue|Mailbox)\.unbounded/,
    /\bMailbox\.make\(\)/,
    /capacity:\s*"unbounded"/,
    /\bDate\.now\(/,
    /\bnew Date\(\)/,
    /\bMath\.random\(/,
    /\bset(?:Timeout|Interval)\(/
  ]
  const wrong = ["packages/protocol/src", "packages/server/src", "packages/client/src", "packages/phone/src"].flatMap(
    (folder) =>
      filesOf(join(top, folder)).flatMap((file) => {
        const text = readFileSync(file, "utf8")
        return forbidden.filter((pattern) => pattern.test(text)).map((pattern) => `${relative(top, file)}: ${pattern}`)
      })
  )
  expect(wrong).toEqual([])
})

it("the environment is read in one place, and handed on", () => {
  const wrong = ["packages/server/src", "packages/client/src", "packages/phone/src"].flatMap((folder) =>
    filesOf(join(top, folder))
      .filter((file) => /\bprocess\.env\b/.test(readFileSync(file, "utf8")))
      .map((file) => relative(top, file))
  )
  expect(wrong).toEqual([])
})
