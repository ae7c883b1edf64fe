import { WebSocket } from "ws"
import type { Harness } from "./harness.ts"

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames the way the other side does, without our types
type Frame = any

/** A telephone line as the other side of it sees it: frames in, frames out, none of them interpreted. */
export interface Line {
  readonly say: (frame: object | string) => void
  /** The next frame that satisfies, from where the last one was found. */
  readonly hear: (isIt: (frame: Frame) => boolean) => Promise<Frame>
  /** Everything heard so far. */
  readonly frames: ReadonlyArray<Frame>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly socket: WebSocket
}

/** Why a line was not given: the status and body of the refusal. */
export class Refused extends Error {
  readonly status: number
  readonly body: string
  constructor(status: number, body: string) {
    super(`refused with ${status}: ${body}`)
    this.status = status
    this.body = body
  }
}

/** Opens a line to a server. */
export const openLine = (
  server: Pick<Harness, "url">,
  options: {
    readonly query?: string
    readonly headers?: Record<string, string>
    readonly protocols?: ReadonlyArray<string>
    readonly name?: string
  } = {}
): Promise<Line> =>
  new Promise((resolve, reject) => {
    const { headers = {}, name = "default", protocols = ["harness.jambonz.org"], query = "" } = options
    const url = `${server.url.replace("http", "ws")}/v1/servers/${name}/jambonz${query}`
    const socket = new WebSocket(url, [...protocols], { headers })
    const frames: Array<Frame> = []
    const waiting = new Set<() => void>()
    let at = 0
    const wake = () => {
      for (const look of waiting) look()
    }
    const closed = new Promise<{ readonly code: number; readonly reason: string }>((settle) => {
      socket.on("close", (code, reason) => {
        settle({ code, reason: reason.toString() })
        wake()
      })
    })
    const hear = (isIt: (frame: Frame) => boolean): Promise<Frame> =>
      new Promise((found, lost) => {
        const look = () => {
          while (at < frames.length) {
            const frame = frames[at++]
            if (!isIt(frame)) continue
            waiting.delete(look)
            return found(frame)
          }
          if (socket.readyState === WebSocket.CLOSED) {
            waiting.delete(look)
            lost(new Error(`the line is closed; heard ${JSON.stringify(frames)}`))
          }
        }
        waiting.add(look)
        look()
      })
    socket.on("message", (data) => {
      frames.push(JSON.parse(data.toString()))
      wake()
    })
    socket.on("unexpected-response", (_, response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text
      })
      response.on("end", () => reject(new Refused(response.statusCode ?? 0, body)))
    })
    socket.on("error", (error) => reject(error))
    socket.on("open", () =>
      resolve({
        say: (frame) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
        hear,
        frames,
        closed,
        socket
      })
    )
  })

/** The text of a reply, all its chunks together. */
export const saidIn = (frames: ReadonlyArray<Frame>, replyId: string): string =>
  frames
    .filter((frame) => frame.type === "reply:chunk" && frame.reply_id === replyId)
    .map((frame) => frame.chunk.choices[0].delta.content)
    .join("")

export const isChunk = (frame: Frame): boolean => frame.type === "reply:chunk"
export const isDone = (frame: Frame): boolean => frame.type === "reply:done"
export const isToolCall = (frame: Frame): boolean => frame.type === "tool:call"
export const isCommand = (frame: Frame): boolean => frame.type === "command"

const answered = ({ socket }: Line): Promise<void> =>
  new Promise((resolve) => {
    socket.once("pong", () => resolve())
    socket.ping("")
  })

/** Settles when the other side knows that everything it said so far was heard. */
export const agree = async (line: Line): Promise<void> => {
  // With the first answer its own pings are here, and with the second our answers to them are there.
  await answered(line)
  await answered(line)
}
