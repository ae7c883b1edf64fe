import type { EndpointErrors, SafeFailure, TurnSnapshot } from "@harness/protocol"
import { Data } from "effect"
import type { StopSignal } from "./Surroundings.ts"

/** What `--json` says of a failure, as the last line. */
export interface ErrorObject {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly [more: string]: unknown
}

/** Why a command did not do what it was asked to: one line for a person, an object for a program, an exit code. */
export class CliFailure extends Data.TaggedError("CliFailure")<{
  readonly message: string
  /** What to do about it, on a line of its own. */
  readonly hint?: string
  readonly exitCode: number
  readonly error: ErrorObject
  /** Whoever caused it knows: nothing is said. */
  readonly obvious: boolean
}> {}

interface Told {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly retryable?: boolean
  readonly details?: Readonly<Record<string, unknown>>
  readonly obvious?: boolean
}

const failure = (exitCode: number, { code, details = {}, hint, message, obvious = false, retryable = false }: Told) =>
  new CliFailure({
    message,
    ...(hint === undefined ? {} : { hint }),
    exitCode,
    obvious,
    error: { code, message, retryable, ...details }
  })

/** The command did not work. */
export const failed = (told: Told): CliFailure => failure(1, told)

/** The command was not written as it should be. */
export const misused = (message: string, hint?: string): CliFailure =>
  failure(2, { code: "usage", message, ...(hint === undefined ? {} : { hint }) })

const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/** The exit code of a program that a signal ended. */
export const exitCodeOf = (signal: StopSignal): number => 128 + signalNumbers[signal]

/** Somebody stopped us. */
export const stoppedBy = (signal: StopSignal): CliFailure =>
  failure(exitCodeOf(signal), { code: "stopped", message: `stopped by ${signal}`, obvious: true })

/** Somebody stopped us, and with us the turn. */
export const cancelledBy = (signal: StopSignal, details: Readonly<Record<string, unknown>>): CliFailure =>
  failure(exitCodeOf(signal), { code: "turn.cancelled", message: "the turn was cancelled", details })

/** The server refused. */
export const refused = (error: EndpointErrors): CliFailure => {
  const hint = hintFor(error.code)
  return failed({
    code: error.code,
    message: error.message === "" ? error.code : error.message,
    ...(hint === undefined ? {} : { hint }),
    retryable: error.retryable,
    details: {
      _tag: error._tag,
      ...(error.requestId === "" ? {} : { requestId: error.requestId }),
      ...(error.details === undefined ? {} : { details: error.details })
    }
  })
}

const hintFor = (code: string): string | undefined => {
  switch (code) {
    case "auth.missing":
    case "auth.unknown":
      return "name a token with --token or HARNESS_TOKEN; on the server's own machine it is in its data folder, in `token`"
    case "session.not_found":
      return "`harness sessions` lists those there are; --server names another server"
    case "turn.not_found":
      return "`harness turns SESSION` lists those there are"
    default:
      return undefined
  }
}

/** A turn ended, and not well. */
export const turnFailed = (turn: TurnSnapshot): CliFailure => {
  const { failure: why, sessionId, state, stopReason, turnId } = turn
  const details = { sessionId, turnId, state, ...(stopReason === undefined ? {} : { stopReason }) }
  if (state === "cancelled") {
    const message =
      stopReason === "interrupted" ? "the turn was interrupted by another prompt" : "the turn was cancelled"
    return failed({ code: `turn.${stopReason ?? state}`, message, details })
  }
  return failed({
    code: why?.code ?? `turn.${stopReason ?? state}`,
    message: `the turn failed: ${why === undefined ? (stopReason ?? state) : reasonOf(why)}`,
    retryable: why?.retryable ?? false,
    details: { ...details, ...(why === undefined ? {} : { kind: why.kind }) }
  })
}

const reasonOf = (why: SafeFailure): string => (why.message === "" ? why.code : why.message)
