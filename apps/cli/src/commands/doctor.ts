import { accessSync, constants, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { HARNESS_PROTOCOL_VERSION } from "@harness/protocol"
import { Effect, Either } from "effect"
import type { Running } from "../command.ts"
import { connect, isHere, tokenFor, type Where } from "../connect.ts"
import { dataFolder } from "../dataFolder.ts"
import { failed } from "../failures.ts"
import { answer } from "../render/answer.ts"
import { type Check, checkLines } from "../render/checks.ts"
import { Surroundings } from "../Surroundings.ts"

const ok = (name: string, said: string): Check => ({ name, result: "ok", said })
const warn = (name: string, said: string): Check => ({ name, result: "warn", said })
const fail = (name: string, said: string): Check => ({ name, result: "fail", said })

const isWritable = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

const existing = (folder: string): string =>
  statSync(folder, { throwIfNoEntry: false }) !== undefined || dirname(folder) === folder
    ? folder
    : existing(dirname(folder))

const folderCheck = (data: string): Check => {
  const stat = statSync(data, { throwIfNoEntry: false })
  if (stat === undefined) {
    return isWritable(existing(data))
      ? ok("data folder", `${data} will be made by the first server`)
      : fail("data folder", `${data} is not there and cannot be made`)
  }
  if (!stat.isDirectory()) return fail("data folder", `${data} is not a folder`)
  return isWritable(data) ? ok("data folder", `${data} is writable`) : fail("data folder", `${data} is not writable`)
}

const tokenFileCheck = (data: string, platform: string): Check => {
  const path = join(data, "token")
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return warn("token file", `${path} is not there; the first server makes it`)
  const others = stat.mode & 0o077
  return others === 0 || platform === "win32"
    ? ok("token file", `${path} is its owner's alone`)
    : fail("token file", `${path} can be read by others: chmod 600 ${path}`)
}

const providerKeys = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"]

const serverChecks = (where: Where) =>
  Effect.gen(function* () {
    const server = yield* connect(where)
    const health = yield* Effect.either(server.ask(server.client.system.health))
    if (Either.isLeft(health)) return [fail("server", health.left.message)]
    const { protocol, release } = health.right
    const checks = [
      ok("server", `${server.url} answers, release ${release}`),
      protocol === HARNESS_PROTOCOL_VERSION
        ? ok("protocol", `both speak version ${protocol}`)
        : fail("protocol", `the server speaks version ${protocol}, this program ${HARNESS_PROTOCOL_VERSION}`)
    ]
    const token = yield* tokenFor(server.url, where.token)
    if (token === undefined) {
      const hint = isHere(server.url) ? "no token is known" : "the token of this machine is not sent elsewhere"
      return [...checks, fail("token", `${hint}: name one with --token or HARNESS_TOKEN`)]
    }
    const capabilities = yield* Effect.either(server.ask(server.client.system.capabilities))
    if (Either.isLeft(capabilities)) return [...checks, fail("token", `refused: ${capabilities.left.message}`)]
    const real = capabilities.right.providers.filter((provider) => provider !== "demo")
    return [
      ...checks,
      ok("token", "accepted"),
      real.length === 0
        ? warn(
            "providers",
            `none; the built-in demo model answers. Start the server with one of ${providerKeys.join(", ")}`
          )
        : ok("providers", real.join(", "))
    ]
  })

/** Checks what a first prompt needs; ends with 1 when something would fail. */
export const doctor = ({
  data,
  json,
  ...where
}: Where & { readonly data: string | undefined; readonly json: boolean }): Running =>
  Effect.gen(function* () {
    const { nodeVersion, platform } = yield* Surroundings
    const folder = yield* dataFolder(data)
    const checks = [
      ok("node", nodeVersion),
      folderCheck(folder),
      tokenFileCheck(folder, platform),
      ...(yield* serverChecks(where))
    ]
    yield* answer(json, { checks }, (style) => checkLines(checks, style))
    const bad = checks.filter(({ result }) => result === "fail")
    if (bad.length > 0) {
      return yield* failed({
        code: "doctor.failed",
        message: `not in order: ${bad.map(({ name }) => name).join(", ")}`,
        details: { failed: bad.map(({ name }) => name) }
      })
    }
  })
