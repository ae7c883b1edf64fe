import { connect } from "node:net"
import { ensure } from "./check.ts"

/** What came back on a connection: the status lines and bodies, in order. */
export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

const readAnswers = (bytes: Buffer): ReadonlyArray<RawAnswer> => {
  const all: Array<RawAnswer> = []
  let rest = bytes
  for (;;) {
    const end = rest.indexOf("\r\n\r\n")
    if (end === -1) return all
    const head = rest.subarray(0, end).toString("latin1")
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    if (rest.length < end + 4 + length) return all
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
    all.push({ status, head, body: rest.subarray(end + 4, end + 4 + length).toString("utf8") })
    rest = rest.subarray(end + 4 + length)
  }
}

/** Sends requests as bytes, one after another on one connection, each once the one before is answered. */
export const onOneConnection = (
  baseUrl: string,
  requests: ReadonlyArray<string | Buffer>
): Promise<ReadonlyArray<RawAnswer>> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl)
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) })
    let received = Buffer.alloc(0)
    let sent = 0
    const sendNext = () => {
      const request = requests[sent]
      if (request === undefined) return
      sent++
      socket.write(request)
    }
    const finish = () => {
      socket.destroy()
      resolve(readAnswers(received))
    }
    socket.setTimeout(10_000, finish)
    socket.on("connect", sendNext)
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk])
      const done = readAnswers(received).length
      if (done === requests.length) finish()
      else if (done === sent) sendNext()
    })
    socket.on("close", finish)
    socket.on("error", (error) => (received.length > 0 ? finish() : reject(error)))
  })

/** The one answer to one request. */
export const oneAnswer = async (baseUrl: string, request: string | Buffer): Promise<RawAnswer> => {
  const [answer] = await onOneConnection(baseUrl, [request])
  ensure(answer !== undefined, "the server closed the connection without an answer")
  return answer
}
