import { ensure } from "./check.ts"

/** One frame of an event stream, as it came. */
export interface Frame {
  readonly id: number | undefined
  readonly event: string
  readonly data: { readonly [key: string]: unknown }
}

const field = (line: string): readonly [string, string] => {
  const colon = line.indexOf(":")
  if (colon === -1) return [line, ""]
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")]
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads a frame, and sees that it is of the promised form. */
const parse = (block: string): Frame | undefined => {
  const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"))
  if (lines.length === 0) return undefined
  const fields = lines.map(field)
  const of = (name: string) => fields.filter(([key]) => key === name).map(([, value]) => value)
  const [event, ...events] = of("event")
  const [data, ...more] = of("data")
  const [id, ...ids] = of("id")
  ensure(event !== undefined && events.length === 0, `a frame has one event line: ${block}`)
  ensure(data !== undefined && more.length === 0, `a frame has one data line: ${block}`)
  ensure(ids.length === 0 && (id === undefined || /^\d+$/.test(id)), `an id is one number: ${block}`)
  const json: unknown = JSON.parse(data)
  ensure(isObject(json), `the data of a frame is an object: ${block}`)
  ensure(json["type"] === event, `the type of the data is the event's name: ${block}`)
  return { id: id === undefined ? undefined : Number(id), event, data: json }
}

/** An open event stream, read frame by frame. */
export class EventReader {
  private readonly decoder = new TextDecoder()
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>
  private buffer = ""
  private ready: Array<Frame> = []
  /** Every frame read so far. */
  readonly seen: Array<Frame> = []

  constructor(body: ReadableStream<Uint8Array>) {
    this.reader = body.getReader()
  }

  /** The next frame; undefined when the stream has ended. */
  async next(): Promise<Frame | undefined> {
    while (this.ready.length === 0) {
      const { done, value } = await this.reader.read()
      if (done) return undefined
      this.buffer += this.decoder.decode(value, { stream: true })
      const blocks = this.buffer.replaceAll("\r\n", "\n").split("\n\n")
      this.buffer = blocks.pop() ?? ""
      this.ready = blocks.flatMap((block) => parse(block) ?? [])
    }
    const frame = this.ready.shift()
    if (frame !== undefined) this.seen.push(frame)
    return frame
  }

  /** Reads on until a frame is the one; throws when the stream ends before. */
  async until(wanted: (frame: Frame) => boolean, what: string): Promise<Frame> {
    for (;;) {
      const frame = await this.next()
      ensure(
        frame !== undefined,
        `the stream ended before ${what}; it said ${this.seen.map((one) => one.event).join(", ")}`
      )
      if (wanted(frame)) return frame
    }
  }

  /** Reads to the end. */
  async toEnd(): Promise<ReadonlyArray<Frame>> {
    while ((await this.next()) !== undefined) {}
    return this.seen
  }

  async close(): Promise<void> {
    await this.reader.cancel()
  }
}
