import { type LiveCall, openCall } from "@harness/phone/LiveCall"
import type { Audience } from "@harness/phone/Recorder"
import type { Report } from "@harness/phone/report"
import { listen, Script, type Step, say } from "@harness/phone/script"
import { callSettings } from "@harness/phone/settings"
import type { ServerName } from "@harness/protocol"
import { Effect, Option, Ref } from "effect"
import type { Running } from "../command.ts"
import { urlOf } from "../connect.ts"
import { type CliFailure, failed, misused, stoppedBy } from "../failures.ts"
import { readIn } from "../jsonFile.ts"
import { Conversation } from "../phone/Conversation.ts"
import { talkAt } from "../phone/talk.ts"
import { withoutUndefined } from "../present.ts"
import { entryLine, faultLine, heardLine, reportJson, reportLine } from "../render/call.ts"
import { count } from "../render/text.ts"
import { type StopSignal, Surroundings, type Writer } from "../Surroundings.ts"

interface CallFlags {
  readonly url: string | undefined
  readonly server: ServerName
  readonly agent: string | undefined
  readonly secret: string | undefined
  readonly script: string | undefined
  readonly rate: number | undefined
  readonly speed: number | undefined
  readonly json: boolean
}

/** Where the server takes calls. */
const voiceUrl = ({ agent, server, url }: CallFlags) =>
  Effect.gen(function* () {
    const given = yield* urlOf(url)
    const base = URL.canParse(given) ? new URL(given) : undefined
    if (base?.protocol !== "http:" && base?.protocol !== "https:") {
      return yield* misused("the server's address must be an http or https URL")
    }
    const voice = new URL(`v1/servers/${server}/jambonz`, base.href.endsWith("/") ? base : `${base.href}/`)
    voice.protocol = base.protocol === "http:" ? "ws:" : "wss:"
    if (agent !== undefined) voice.searchParams.set("agent", agent)
    return voice.href
  })

/** A script's call as it passes: frames, what was heard, and what was wrong. */
const timeline = (out: Writer): Audience => ({
  onEntry: (entry) => out.push(entryLine(entry, out.style)),
  onFault: (fault) => out.push(faultLine(fault, out.style)),
  onOutput: (output) => {
    if (output._tag === "Finished" && output.heard.text !== "") out.push(heardLine(output.at, output.heard, out.style))
  }
})

const inJson = (out: Writer): Audience => ({ onEntry: (entry) => out.push(`${JSON.stringify(entry)}\n`) })

/** Why a call did not go well, if it did not. */
const failureOf = ({ failure, faults }: Report): CliFailure | undefined => {
  if (failure !== undefined) {
    return failed({
      code: `call.${failure.reason}`,
      message: `the call failed: ${failure.message}`,
      ...(failure.reason === "connect" ? { hint: "--url, --server, --agent and --secret say where a call goes" } : {}),
      retryable: failure.reason !== "connect"
    })
  }
  if (faults.length === 0) return undefined
  const ofScript = faults.every(({ kind }) => kind === "script")
  return failed({
    code: ofScript ? "call.script" : "call.faults",
    message: ofScript
      ? `the script could not be played: ${faults[0]?.message}`
      : `${count(faults.length, "rule")} of the protocol ${faults.length === 1 ? "was" : "were"} broken: ${faults[0]?.message}`
  })
}

const hungUp = (live: LiveCall) => live.input({ _tag: "HangsUp", reason: "caller_hangup" })

/** Calls an agent, as a script, a pipe or a person at the terminal says. */
export const call = (flags: CallFlags): Running =>
  Effect.gen(function* () {
    const { env, err, out, stdin, stopped, terminal } = yield* Surroundings
    const script = flags.script === undefined ? undefined : yield* readIn(Script, "--script", flags.script)
    const url = yield* voiceUrl(flags)
    const secret = [flags.secret, env["HARNESS_JAMBONZ_SECRET"]].find((one) => (one ?? "") !== "")
    const settings = {
      ...(script?.call ?? callSettings()),
      ...withoutUndefined({ rate: flags.rate, speed: flags.speed })
    }
    const keyboard = script === undefined && stdin.isTerminal ? terminal : Option.none()
    const steps: ReadonlyArray<Step> | undefined =
      script?.steps ?? (Option.isSome(keyboard) ? undefined : linesOf(yield* stdin.text))
    const conversation = new Conversation(out, Option.isSome(keyboard) && !flags.json)
    const spoken: Audience = { onOutput: (output) => conversation.hear(output) }
    const audience = flags.json ? inJson(out) : script === undefined ? spoken : timeline(out)

    const live = yield* openCall({ url, secret, settings, ...audience })
    const talking =
      steps === undefined && Option.isSome(keyboard)
        ? talkAt(keyboard.value, live, conversation)
        : live.play([...(steps ?? []), listen()])
    const asked = yield* Ref.make<StopSignal | undefined>(undefined)
    const leaving = Effect.gen(function* () {
      const signal = yield* stopped
      yield* Ref.set(asked, signal)
      yield* hungUp(live)
      yield* Effect.timeoutOption(live.report, "3 seconds")
      return yield* stoppedBy(signal)
    })
    const toItsEnd = Effect.ignore(talking).pipe(Effect.zipRight(hungUp(live)), Effect.zipRight(live.report))
    const report = yield* Effect.raceFirst(toItsEnd, leaving).pipe(
      Effect.ensuring(Effect.sync(() => (flags.json || script !== undefined ? undefined : conversation.end())))
    )
    const signal = yield* Ref.get(asked)
    if (signal !== undefined) return yield* stoppedBy(signal)
    if (flags.json) yield* out.write(reportJson(report))
    else yield* err.write(reportLine(report, err.style))
    if (!flags.json && script === undefined) {
      yield* Effect.forEach(report.faults, (fault) => err.write(faultLine(fault, err.style)), { discard: true })
    }
    const failure = failureOf(report)
    if (failure !== undefined) return yield* failure
  }).pipe(Effect.scoped)

/** What a caller says who only has a pipe: a line is a turn. */
const linesOf = (text: string): ReadonlyArray<Step> =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => say(line.trim()))
