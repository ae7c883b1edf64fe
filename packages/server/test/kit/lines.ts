import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Harness } from "./harness.ts"
import { isDone, type Line, openLine, saidIn } from "./line.ts"

/** An agent that answers calls, and says nothing by itself. */
export const writeAgent = (root: string, name: string, voice = "filler: []", more = "tools: []"): void => {
  const folder = join(root, ".harness/agents")
  mkdirSync(folder, { recursive: true })
  const head = `---\ndescription: Answers the telephone.\n${more}\nvoice:\n  ${voice}\n---\n`
  writeFileSync(join(folder, `${name}.md`), `${head}You answer calls.\n`)
}

/** The first frame of a call. */
export const startOf = (call_sid: string, more: object = {}) => ({
  type: "session:start",
  call_sid,
  protocol: 1,
  direction: "inbound",
  from: "+15085550100",
  to: "+15085550199",
  tools: [],
  ...more
})

/** Somebody who calls, over one line after another. */
export class Caller {
  line: Line
  turn = 0
  readonly callSid: string

  private constructor(line: Line, callSid: string) {
    this.line = line
    this.callSid = callSid
  }

  static async call(
    server: Pick<Harness, "url">,
    callSid: string,
    options: Parameters<typeof openLine>[1] = {},
    more: object = {}
  ): Promise<Caller> {
    const line = await openLine(server, options)
    line.say(startOf(callSid, more))
    return new Caller(line, callSid)
  }

  /** Takes the call up again over another line. */
  async resume(
    server: Pick<Harness, "url">,
    options: Parameters<typeof openLine>[1] = {},
    more: object = {}
  ): Promise<Line> {
    this.line = await openLine(server, options)
    this.line.say(startOf(this.callSid, { resumed: true, last_turn_id: this.turn, ...more }))
    return this.line
  }

  /** The caller's next turn. */
  speak(text: string): number {
    this.turn++
    this.line.say({
      type: "turn:start",
      call_sid: this.callSid,
      turn_id: this.turn,
      input: { type: "speech", text }
    })
    return this.turn
  }

  /** The next reply, to its end. */
  async answer(): Promise<{ readonly turnId: number | undefined; readonly replyId: string; readonly said: string }> {
    const done = await this.line.hear(isDone)
    return { turnId: done.turn_id, replyId: done.reply_id, said: saidIn(this.line.frames, done.reply_id).trim() }
  }

  say(frame: object): void {
    this.line.say({ call_sid: this.callSid, ...frame })
  }

  get session(): string {
    return `/sessions/call-${this.callSid}`
  }
}
