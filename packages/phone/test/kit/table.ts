import { readInbound } from "@harness/protocol/jambonz"
import { Either } from "effect"
import { expect } from "vitest"
import { advance, type Input, step } from "../../src/floor.ts"
import type { ToHarness } from "../../src/frames.ts"
import { newCall, type Output, type PhoneCall } from "../../src/phoneCall.ts"
import { type CallSettings, callSettings } from "../../src/settings.ts"

/** A call played by hand: time passes only when the test says so. One word takes 100 ms. */
export class Table {
  call: PhoneCall
  readonly out: Array<Output> = []
  private seen = 0

  constructor(settings: typeof CallSettings.Encoded = {}) {
    const whole: CallSettings = callSettings({ rate: 10, noResponseTimeout: 0, ...settings })
    this.call = newCall(whole, 0)
  }

  private take({ call, out }: { readonly call: PhoneCall; readonly out: ReadonlyArray<Output> }): this {
    this.call = call
    this.out.push(...out)
    return this
  }

  /** Something from outside, now. */
  input(input: Input): this {
    return this.take(step(this.call, this.call.now, input))
  }

  /** The harness sends a frame. */
  harness(frame: unknown): this {
    return this.input({ _tag: "Frame", frame })
  }

  chunk(reply_id: string, turn_id: number | undefined, content: string, more: object = {}): this {
    const chunk = { id: reply_id, object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] }
    return this.harness({
      type: "reply:chunk",
      reply_id,
      ...(turn_id === undefined ? {} : { turn_id }),
      ...more,
      chunk
    })
  }

  done(reply_id: string, turn_id: number | undefined, more: object = {}): this {
    return this.harness({ type: "reply:done", reply_id, ...(turn_id === undefined ? {} : { turn_id }), ...more })
  }

  /** A whole reply. */
  reply(reply_id: string, turn_id: number | undefined, text: string, more: object = {}): this {
    return this.chunk(reply_id, turn_id, text, more).done(reply_id, turn_id)
  }

  command(command_id: string, name: string, args: object = {}): this {
    return this.harness({ type: "command", command_id, name, args })
  }

  after(ms: number): this {
    return this.take(advance(this.call, this.call.now + ms))
  }

  /** The caller says something whole. */
  says(text: string): this {
    return this.input({ _tag: "Speaks" })
      .input({ _tag: "Recognized", text, final: true })
      .input({ _tag: "Stops", text })
  }

  /** Frames since the last look; each must be one a harness can read. */
  sent(): ReadonlyArray<ToHarness> {
    const frames = this.out.slice(this.seen).flatMap((one) => (one._tag === "Sent" ? [one.frame] : []))
    this.seen = this.out.length
    for (const frame of frames) {
      const read = readInbound(JSON.stringify({ call_sid: this.call.settings.callSid, ...frame }))
      expect(Either.isRight(read), JSON.stringify(frame)).toBe(true)
    }
    return frames
  }

  /** Everything that happened, by name. */
  tags(): ReadonlyArray<Output["_tag"]> {
    return this.out.map(({ _tag }) => _tag)
  }

  /** What the caller heard, in order. */
  heard(): ReadonlyArray<string> {
    return this.call.heard.map(({ cut, text }) => (cut ? `${text}–` : text))
  }
}

/** A call whose greeting has been given and heard; what was sent for it has been looked at. */
export const greeted = (settings: typeof CallSettings.Encoded = {}): Table => {
  const table = new Table(settings).input({ _tag: "Opened" }).reply("r1", 1, "Hello.").after(100)
  table.sent()
  return table
}

/** A call whose caller has said something, to which an answer is owed: turn 2. */
export const asked = (settings: typeof CallSettings.Encoded = {}): Table => {
  const table = greeted(settings).says("When are you open")
  table.sent()
  return table
}
