import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import { now } from "../measure.ts"
import type { Wish } from "../wish.ts"
import { answer, say } from "./child.ts"

/** `connect`: so many calls. `talk`: each caller says something, one after the other within `spreadMillis`. `leave`: all hang up. */
export type CallersAsk =
  | { readonly type: "connect"; readonly url: string; readonly count: number }
  | { readonly type: "talk"; readonly wish: Wish; readonly spreadMillis: number }
  | { readonly type: "leave" }

/** What a caller heard of a reply, in milliseconds. */
export interface Heard {
  /** From their words to its first delta. */
  readonly waited: number
  /** How late each delta was, the first one first. */
  readonly late: ReadonlyArray<number>
}

export type CallersAnswer = ReadonlyArray<Heard>

interface Frame {
  readonly type: string
  readonly reply_id: string
  readonly chunk?: { readonly choices: ReadonlyArray<{ readonly delta: { readonly content?: string } }> }
}

interface Call {
  readonly say: (frame: object) => void
  readonly socket: WebSocket
  turn: number
  text: string
  spokeAt: number
  waited: number
  late: Array<number>
  done: () => void
}

let calls: ReadonlyArray<Call> = []
const stamp = /\d+\.\d{3}/g

/** Every stamp that has come whole. */
const take = (call: Call, content: string) => {
  const at = now()
  call.text += content
  stamp.lastIndex = 0
  let end = 0
  for (const found of call.text.matchAll(stamp)) {
    if (call.late.length === 0) call.waited = at - call.spokeAt
    call.late.push(at - Number(found[0]))
    end = found.index + found[0].length
  }
  call.text = call.text.slice(end)
}

const connect = (url: string, number: number): Promise<Call> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, "harness.jambonz.org", { perMessageDeflate: false })
    const call_sid = `bench-${process.pid}-${number}`
    const call: Call = {
      say: (frame) => socket.send(JSON.stringify({ call_sid, ...frame })),
      socket,
      turn: 0,
      text: "",
      spokeAt: 0,
      waited: 0,
      late: [],
      done: () => {}
    }
    socket.on("message", (data) => {
      const frame: Frame = JSON.parse(data.toString())
      if (frame.type === "reply:chunk") take(call, frame.chunk?.choices[0]?.delta.content ?? "")
      if (frame.type !== "reply:done") return
      call.say({ type: "event", name: "reply_spoken", reply_id: frame.reply_id })
      call.done()
    })
    socket.on("error", reject)
    socket.on("open", () => {
      call.say({ type: "session:start", protocol: 1, direction: "inbound", language: "en-US", tools: [] })
      resolve(call)
    })
  })

const talk = (call: Call, wish: Wish): Promise<Heard> =>
  new Promise((resolve) => {
    const done = () => resolve({ waited: call.waited, late: call.late })
    Object.assign(call, { text: "", spokeAt: now(), waited: 0, late: [], turn: call.turn + 1, done })
    call.say({
      type: "turn:start",
      turn_id: call.turn,
      input: { type: "speech", text: JSON.stringify(wish), language: "en-US" }
    })
  })

const obey = async (ask: CallersAsk): Promise<CallersAnswer> => {
  switch (ask.type) {
    case "connect":
      calls = await Promise.all(Array.from({ length: ask.count }, (_, number) => connect(ask.url, number)))
      return []
    case "talk":
      return Promise.all(
        calls.map(async (call, number) => {
          await sleep((ask.spreadMillis * number) / calls.length)
          return talk(call, ask.wish)
        })
      )
    case "leave":
      for (const { say, socket } of calls) {
        say({ type: "session:end", reason: "caller_hangup", duration_ms: 1 })
        socket.close()
      }
      return []
  }
}

answer<CallersAsk, CallersAnswer>(obey)
say("")
