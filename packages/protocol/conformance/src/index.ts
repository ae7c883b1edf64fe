import type { Check } from "./check.ts"
import { accessChecks } from "./checks/access.ts"
import { cancelChecks } from "./checks/cancel.ts"
import { conversationChecks } from "./checks/conversation.ts"
import { deletionChecks } from "./checks/deletion.ts"
import { deltaChecks } from "./checks/deltas.ts"
import { forkChecks } from "./checks/forks.ts"
import { listChecks } from "./checks/lists.ts"
import { requestChecks } from "./checks/requests.ts"
import { retryChecks } from "./checks/retries.ts"
import { serverStreamChecks } from "./checks/serverStream.ts"
import { sessionStreamChecks } from "./checks/sessionStream.ts"
import { sessionChecks } from "./checks/sessions.ts"
import { submitChecks } from "./checks/submit.ts"
import { systemChecks } from "./checks/system.ts"
import { toolChecks } from "./checks/tools.ts"
import { turnStreamChecks } from "./checks/turnStream.ts"
import { whenBusyChecks } from "./checks/whenBusy.ts"
import { Harness, type Target } from "./harness.ts"

/** Where the server is, a token with every scope, and (if it matters) the server name to work under. */
export interface ConformanceOptions {
  readonly baseUrl: string
  readonly token: string
  readonly server?: string
  /** Told of each check as it ends. */
  readonly onResult?: (result: CheckResult) => void
  /** Runs only the checks whose section or name holds this text. */
  readonly only?: string
}

/** Whether one promise was kept; `reason` says how it was not. */
export interface CheckResult {
  readonly name: string
  readonly section: string
  readonly ok: boolean
  readonly reason?: string
}

/** Every check, and how many held. */
export interface ConformanceReport {
  readonly passed: number
  readonly failed: number
  readonly results: ReadonlyArray<CheckResult>
}

/** Longer than any check needs: a server that keeps silent fails it. */
const CHECK_MILLIS = 45_000

/** Every promise that is checked, in the order of the contract. */
export const checks: ReadonlyArray<Check> = [
  ...systemChecks,
  ...requestChecks,
  ...accessChecks,
  ...retryChecks,
  ...sessionChecks,
  ...listChecks,
  ...submitChecks,
  ...whenBusyChecks,
  ...cancelChecks,
  ...toolChecks,
  ...conversationChecks,
  ...sessionStreamChecks,
  ...turnStreamChecks,
  ...deltaChecks,
  ...serverStreamChecks,
  ...forkChecks,
  ...deletionChecks
]

const runCheck = async (check: Check, target: Target): Promise<CheckResult> => {
  const harness = new Harness(target, AbortSignal.timeout(CHECK_MILLIS))
  const { name, section } = check
  try {
    await check.run(harness)
    return { name, section, ok: true }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ""
    return { name, section, ok: false, reason: error instanceof Error ? error.message + cause : String(error) }
  } finally {
    await harness.release()
  }
}

/**
 * Proves a running server against the contract, over HTTP alone. It works under a server name of its own, which it
 * deletes in the end; the server needs the `demo` model.
 */
export const runConformance = async (options: ConformanceOptions): Promise<ConformanceReport> => {
  const target: Target = {
    baseUrl: options.baseUrl.replace(/\/$/, ""),
    token: options.token,
    server: options.server ?? `conformance-${crypto.randomUUID().slice(0, 8)}`
  }
  const only = options.only
  const chosen = checks.filter((check) => only === undefined || `${check.section} ${check.name}`.includes(only))
  const results: Array<CheckResult> = []
  for (const check of chosen) {
    const result = await runCheck(check, target)
    results.push(result)
    options.onResult?.(result)
  }
  const last = new Harness(target, AbortSignal.timeout(CHECK_MILLIS))
  await last.send("DELETE", last.s).catch(() => undefined)
  const passed = results.filter((result) => result.ok).length
  return { passed, failed: results.length - passed, results }
}
