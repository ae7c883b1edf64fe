import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type ClientError, HarnessClient } from "@harness/client"
import { Effect } from "effect"
import { dataFolder } from "./dataFolder.ts"
import { type CliFailure, failed, misused, refused } from "./failures.ts"
import { Surroundings } from "./Surroundings.ts"

/** The options that say where the server is, and who asks. */
export interface Where {
  readonly url: string | undefined
  readonly token: string | undefined
}

/** A server, and the words for its failures. */
export interface Connected {
  readonly url: string
  readonly client: typeof HarnessClient.Service
  readonly ask: <A, R>(effect: Effect.Effect<A, ClientError, R>) => Effect.Effect<A, CliFailure, R>
}

const DEFAULT_URL = "http://127.0.0.1:4700"

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether this is the machine we are on: its own token goes nowhere else. */
export const isHere = (url: string): boolean => URL.canParse(url) && loopback.test(new URL(url).hostname)

/** Where the server is. */
export const urlOf = (flag: string | undefined): Effect.Effect<string, never, Surroundings> =>
  Effect.map(Surroundings, ({ env }) => [flag, env["HARNESS_URL"], DEFAULT_URL].find((url) => (url ?? "") !== "") ?? "")

/** The token to ask with: the one that is named, else, on this machine alone, the one in its data folder. */
export const tokenFor = (url: string, flag: string | undefined) =>
  Effect.gen(function* () {
    const { env } = yield* Surroundings
    const named = [flag, env["HARNESS_TOKEN"]].find((token) => (token ?? "") !== "")
    if (named !== undefined || !isHere(url)) return named
    const data = yield* dataFolder(undefined)
    const text = yield* Effect.option(Effect.try(() => readFileSync(join(data, "token"), "utf8").trim()))
    return text._tag === "Some" && text.value !== "" ? text.value : undefined
  })

/** A client of the server the options name. Nothing is sent yet. */
export const connect = (where: Where): Effect.Effect<Connected, CliFailure, Surroundings> =>
  Effect.gen(function* () {
    const url = yield* urlOf(where.url)
    const token = yield* tokenFor(url, where.token)
    const client = yield* HarnessClient.make({ baseUrl: url, token, clientId: "harness-cli", retries: 2 }).pipe(
      Effect.mapError(({ message }) => misused(message.replace(/^baseUrl/, "the server's address")))
    )
    return { url, client, ask: Effect.mapError((error) => heard(url, error)) }
  })

/** Why a call did not work, for the person who made it. */
export const heard = (url: string, error: ClientError): CliFailure => {
  if (error._tag === "ProtocolMismatch") {
    return failed({ code: error.code, message: `${url} does not answer as a server of this release: ${error.message}` })
  }
  if (error._tag !== "Disconnected") return refused(error)
  const { code, message, reason, retryable } = error
  return reason === "unreachable"
    ? failed({
        code,
        message: `no server answers at ${url}${/\([A-Z_]+\)$/.exec(message)?.[0].replace(/^/, " ") ?? ""}`,
        hint: "`harness server` starts one; --url or HARNESS_URL names another",
        retryable
      })
    : failed({ code, message: `the server at ${url} was lost: ${message}`, retryable })
}
