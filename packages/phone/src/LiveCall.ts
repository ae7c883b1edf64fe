import { Deferred, Duration, Effect, type Scope } from "effect"
import { frameOf } from "./check.ts"
import { dueAt, elapse, type Input, type Stepped, step } from "./floor.ts"
import { makeLine } from "./Line.ts"
import { CallOver, Playback, type ScriptMissed } from "./Playback.ts"
import { newCall, type Output } from "./phoneCall.ts"
import { type Audience, Recorder } from "./Recorder.ts"
import { type Report, reportOf, type View } from "./report.ts"
import { listen, type Step } from "./script.ts"
import type { CallSettings } from "./settings.ts"

/** Where the harness is, and what kind of call it gets. */
export interface CallOptions extends Audience {
  /** `ws://…/v1/servers/default/jambonz?agent=…` */
  readonly url: string
  readonly secret?: string | undefined
  readonly settings: CallSettings
}

/** A call under way. */
export interface LiveCall {
  /** Does these things one after the other, after those before; done when the last was done. */
  readonly play: (steps: ReadonlyArray<Step>) => Effect.Effect<void, CallOver | ScriptMissed>
  /** Does one thing now. */
  readonly input: (input: Input) => Effect.Effect<void>
  /** Waits until the call stands as it should. */
  readonly until: <A>(read: (view: View) => A | undefined) => Effect.Effect<A, CallOver>
  readonly view: Effect.Effect<View>
  /** Comes when the call is over. */
  readonly report: Effect.Effect<Report>
}

/** More than a harness has any reason to have under way. */
const MAIL_MAX = 10_000

/** How long a script waits for a harness, and a call for its socket to close, in the harness's own time. */
const PATIENCE_MS = 60_000
const CLOSING_MS = 2_000

/** Calls a harness. The call goes on by itself; with its scope it ends without a word. */
export const openCall = (options: CallOptions): Effect.Effect<LiveCall, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { secret, settings, url } = options
    const clock = yield* Effect.clock
    const started = clock.unsafeCurrentTimeNanos()
    /** The call's time, in milliseconds since it began. */
    const now = () => (Number(clock.unsafeCurrentTimeNanos() - started) / 1e6) * settings.speed
    const bell = yield* Effect.makeLatch()
    const over = yield* Deferred.make<Report>()
    const recorder = new Recorder(options)
    const playback = new Playback(PATIENCE_MS * settings.speed)
    const mail: Array<{ readonly at: number; readonly take: () => void }> = []
    const waiting = new Set<() => void>()
    let call = newCall(settings, 0)
    let wantsSocket = false
    let closingUntil = Number.POSITIVE_INFINITY

    const view = (): View => recorder.view(call)
    const fault = (kind: "socket" | "script", message: string) => recorder.fault({ at: call.now, kind, message })

    /** Everything from outside is taken in the order it came, at the time it came. */
    const post = (take: () => void) => {
      if (mail.length < MAIL_MAX) mail.push({ at: now(), take })
      else fault("socket", "more came than anybody could play")
      bell.unsafeOpen()
    }
    const line = yield* makeLine(url, secret, {
      opened: () => post(() => give({ _tag: "Opened" })),
      refused: (message) => post(() => give({ _tag: "Refused", message })),
      text: (text) => post(() => received(frameOf(text))),
      binary: () => post(() => fault("socket", "a binary frame")),
      ping: (answer) =>
        post(() => {
          recorder.ping()
          answer()
        }),
      closed: (code, reason) =>
        post(() => give({ _tag: "Dropped", code, message: `the socket closed (${[code, reason].join(" ").trim()})` }))
    })

    const received = (frame: unknown) => {
      recorder.received(call, frame)
      give({ _tag: "Frame", frame })
    }
    const give = (input: Input) => apply(step(call, call.now, input))
    const apply = (stepped: Stepped) => {
      call = stepped.call
      for (const output of stepped.out) carryOut(output)
      if (call.phase === "ended") closingUntil = Math.min(closingUntil, call.now + CLOSING_MS * settings.speed)
    }
    const carryOut = (output: Output) => {
      recorder.happened(output)
      if (output._tag === "Sent") {
        const { type, ...fields } = output.frame
        line.send(JSON.stringify({ type, call_sid: settings.callSid, ...fields }))
      }
      if (output._tag === "Open") wantsSocket = true
      if (output._tag === "Cut") line.cut(output.halfOpen)
      if (output._tag === "Close") line.close()
    }

    const playOn = () => {
      playback.run(
        () => call,
        give,
        (message) => fault("script", message)
      )
      for (const look of [...waiting]) look()
    }
    const dueNext = () => {
      if (call.phase === "ended") return closingUntil
      return Math.min(dueAt(call) ?? Number.POSITIVE_INFINITY, playback.dueAt(call) ?? Number.POSITIVE_INFINITY)
    }
    /** Lets all happen that is due until then, one thing after the other, the script looking on. */
    const elapseTo = (then: number) => {
      while (call.phase !== "ended" && dueNext() <= then) {
        const ofCall = dueAt(call) ?? Number.POSITIVE_INFINITY
        if (ofCall <= dueNext()) apply(elapse(call))
        else call = { ...call, now: Math.max(call.now, dueNext()) }
        playOn()
      }
      call = { ...call, now: Math.max(call.now, then) }
    }
    const takeMail = () => {
      for (let next = mail.shift(); next !== undefined; next = mail.shift()) {
        elapseTo(next.at)
        next.take()
        playOn()
      }
      elapseTo(now())
    }
    const isOver = () => call.phase === "ended" && (!line.isUp() || call.now >= closingUntil)

    const goOn = Effect.gen(function* () {
      yield* line.open(false)
      while (true) {
        bell.unsafeClose()
        takeMail()
        if (wantsSocket) yield* line.open(true)
        wantsSocket = false
        if (call.phase !== "live") yield* line.rest
        if (isOver()) break
        const due = dueNext()
        const untilDue = Math.max(0, Math.ceil((due - now()) / settings.speed))
        yield* Number.isFinite(due) ? Effect.timeoutOption(bell.await, Duration.millis(untilDue)) : bell.await
      }
      const report = reportOf(view())
      playback.stop(report)
      yield* Deferred.succeed(over, report)
    })
    yield* Effect.forkScoped(goOn)

    return {
      play: (steps) =>
        Effect.flatMap(Deferred.make<void, CallOver | ScriptMissed>(), (done) =>
          Effect.zipRight(
            Effect.sync(() => post(() => playback.add({ steps, done }))),
            Effect.raceFirst(
              Deferred.await(done),
              Effect.flatMap(Deferred.await(over), (report) => new CallOver({ report }))
            )
          )
        ),
      input: (input) => Effect.sync(() => post(() => give(input))),
      until: (read) => {
        const seen = Effect.async<NonNullable<ReturnType<typeof read>>>((resume) => {
          const look = () => {
            const found = read(view())
            if (found === undefined || found === null) return
            waiting.delete(look)
            resume(Effect.succeed(found))
          }
          waiting.add(look)
          look()
          return Effect.sync(() => waiting.delete(look))
        })
        return Effect.raceFirst(
          seen,
          Effect.flatMap(Deferred.await(over), (report) => new CallOver({ report }))
        )
      },
      view: Effect.sync(() => {
        const { faults, timeline, ...rest } = view()
        return { ...rest, faults: [...faults], timeline: [...timeline] }
      }),
      report: Deferred.await(over)
    }
  })

/** Plays a call from its beginning to its end: after the last step the caller waits for an answer, and hangs up. */
export const playCall = (options: CallOptions, steps: ReadonlyArray<Step>): Effect.Effect<Report> =>
  Effect.scoped(
    Effect.gen(function* () {
      const call = yield* openCall(options)
      yield* Effect.ignore(call.play([...steps, listen()]))
      yield* call.input({ _tag: "HangsUp", reason: "caller_hangup" })
      return yield* call.report
    })
  )
