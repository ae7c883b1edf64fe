import { setTimeout as delay } from "node:timers/promises"
import { expect, it } from "vitest"
import { Happenings } from "../kit/crash.ts"
import { selected } from "../kit/database.ts"
import { isChunk, isDone, type Line, saidIn } from "../kit/line.ts"
import { Caller, writeAgent } from "../kit/lines.ts"
import { type Chance, chance } from "../kit/random.ts"
import { stage } from "../kit/stage.ts"
import { talking } from "../kit/talking.ts"

const ROUNDS = 5
const CALLS = 4
const TURNS = 3

const { act, api, place, server } = stage({ HARNESS_PATIENCE: JSON.stringify({ resume: 60_000 }) })
writeAgent(place.root, "acme", "filler: []\n  tools: { lookup: { timeoutMillis: 3000 } }")

const REPEAT = "Sorry, could you say that again?"
const lookup = { name: "lookup", description: "Looks it up", parameters: { type: "object", properties: {} } }
const acme = { query: "?agent=acme" }
const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim()

/** What one caller says, hears and is asked for, over however many lines. */
class Talker {
  readonly lines: Array<Line> = []
  /** Tool calls by their id, and how often each came. */
  readonly asked = new Map<string, { readonly turnId: number; times: number }>()
  /** What the database had of a reply before a line heard more of it. */
  readonly delivered = new Map<string, number>()
  /** What each turn of the call asked, and what it was answered with. */
  readonly turns = new Map<number, { readonly words: string; readonly said: string }>()
  private readonly caller: Caller
  private readonly happenings: Happenings
  private at = 0

  constructor(caller: Caller, happenings: Happenings) {
    this.caller = caller
    this.happenings = happenings
    this.listen()
  }

  private listen(): void {
    const { line } = this.caller
    this.lines.push(line)
    line.socket.on("message", (data) => {
      this.happenings.happen()
      const frame = JSON.parse(data.toString())
      if (frame.type !== "tool:call") return
      const known = this.asked.get(frame.call_id)
      if (known === undefined) this.asked.set(frame.call_id, { turnId: frame.turn_id, times: 1 })
      else known.times++
      this.caller.say({ type: "tool:result", call_id: frame.call_id, result: "found" })
    })
  }

  get session(): string {
    return this.caller.session
  }

  /** Every frame heard, whatever line it came over. */
  get frames() {
    return this.lines.flatMap(({ frames }) => frames)
  }

  private async resume(): Promise<void> {
    const up = await server().up()
    for (const { reply_id } of this.frames.filter(isChunk)) {
      const row = selected(place.data, "SELECT delivered FROM voice_reply WHERE reply_id = ?", reply_id)
      if (typeof row === "object" && row !== null && "delivered" in row) {
        this.delivered.set(`${reply_id}/${this.lines.length}`, Number(row.delivered))
      }
    }
    await this.caller.resume(up, acme, { tools: [lookup] })
    this.listen()
  }

  /** The end of the answer to a turn, over whichever line it comes. */
  private async answered(turn: number): Promise<string> {
    for (;;) {
      const { line } = this.caller
      const done = await line.hear((frame) => isDone(frame) && frame.turn_id === turn).catch(() => undefined)
      if (done !== undefined) return done.reply_id
      await this.resume()
    }
  }

  /** Says its words one after another; what was lost is said again. */
  async talk(turns: ReadonlyArray<{ readonly words: string; readonly said: string }>): Promise<void> {
    for (;;) {
      const next = turns[this.at]
      if (next === undefined) return
      const { words } = next
      const turn = this.caller.speak(words)
      const replyId = await this.answered(turn)
      const said = plain(this.whole(replyId, [next.said, REPEAT]))
      this.turns.set(turn, { words, said })
      if (said !== REPEAT) this.at++
    }
  }

  /** What was heard of a reply over all lines: each goes on no further back than what the other side knew, and leaves no gap. */
  private whole(replyId: string, could: ReadonlyArray<string>): string {
    let heard = ""
    this.lines.forEach(({ frames }, index) => {
      const next = saidIn(frames, replyId)
      if (next === "") return
      // How much of the end comes again: as little as makes sense of it.
      const fits = (count: number) =>
        heard.endsWith(next.slice(0, count)) && could.some((text) => text.startsWith(plain(heard + next.slice(count))))
      let again = 0
      while (again < Math.min(heard.length, next.length) && !fits(again)) again++
      const from = heard.length - again
      const known = this.delivered.get(`${replyId}/${index}`)
      if (known !== undefined) expect([replyId, from >= Math.min(known, heard.length)]).toEqual([replyId, true])
      heard += next.slice(again)
    })
    return heard
  }

  hangUp(): void {
    this.caller.say({ type: "session:end", reason: "caller_hangup" })
  }
}

const script = (name: string, luck: Chance) =>
  Array.from({ length: TURNS }, (_, turn) => {
    const key = `${name}-${turn}`
    const sentence = (what: string) =>
      `${what}: ${Array.from({ length: luck.whole(3, 20) }, (_, n) => `word${n}`).join(" ")}.`
    const usesTool = luck.next() < 0.5
    const talks = usesTool
      ? [{ text: sentence(`Look ${key}`), tool: "lookup" }, { text: sentence(`Found ${key}`) }]
      : [{ text: sentence(`Say ${key}`) }]
    act(key, talking(talks, luck.whole(2, 25)))
    return { words: `${key}: please`, said: plain(talks.map(({ text }) => text).join(" ")), usesTool }
  })

it.each(Array.from({ length: ROUNDS }, (_, seed) => seed + 1))(
  "killed at any moment, what was heard and what is history agree, turns end once, tools run once: seed %i",
  async (seed) => {
    const luck = chance(seed * 7_919)
    const happenings = new Happenings()
    const up = await server().up()
    const calls = await Promise.all(
      Array.from({ length: CALLS }, async (_, n) => {
        const name = `c${seed}-${n}`
        const turns = script(name, luck.fork())
        const caller = await Caller.call(up, name, acme, { tools: [lookup] })
        return { turns, talker: new Talker(caller, happenings) }
      })
    )
    const dying = (async () => {
      await happenings.after(luck.whole(1, 60))
      await delay(luck.whole(0, 60))
      await server().crash()
    })()
    await Promise.all(calls.map(({ talker, turns }) => talker.talk(turns)))
    await dying
    for (const { talker, turns } of calls) {
      const answered = [...talker.turns.values()].filter(({ said }) => said !== REPEAT)
      expect(answered.map(({ said }) => said)).toEqual(turns.map(({ said }) => said))
      const { entries } = (await (await api()).get(`${talker.session}/history?limit=500`)).body
      const history = entries
        .filter(({ role }: { role: string }) => role === "assistant")
        .flatMap(({ content }: { content: ReadonlyArray<{ text?: string }> }) => content)
        .flatMap(({ text }: { text?: string }) => (text === undefined ? [] : [text]))
      expect(plain(history.join(" "))).toBe(plain([...talker.turns.values()].map(({ said }) => said).join(" ")))
      expect([...talker.asked.values()].filter(({ times }) => times !== 1)).toEqual([])
      expect(talker.asked.size).toBe(turns.filter(({ usesTool }) => usesTool).length)
      const terminals = `FROM event WHERE session_id = ? AND type = 'turn.terminal'`
      const id = talker.session.replace("/sessions/", "")
      const twice = `SELECT 1 ${terminals} GROUP BY turn_id HAVING count(*) > 1`
      expect(selected(place.data, twice, id)).toBeUndefined()
      expect(selected(place.data, `SELECT count(*) AS n ${terminals}`, id)).toEqual({ n: talker.turns.size })
      talker.hangUp()
    }
  }
)
