import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { EndlessFrame, frameReader } from "../src/frames.ts"
import { slices } from "./kit/frames.ts"

const encoder = new TextEncoder()
const read = (pieces: ReadonlyArray<Uint8Array>) => {
  const feed = frameReader()
  return pieces.flatMap((piece) => feed(piece))
}
const whole = (text: string) => read([encoder.encode(text)])
const byteByByte = (text: string) => read([...encoder.encode(text)].map((byte) => Uint8Array.of(byte)))

const plain = 'id: 7\nevent: a\ndata: {"text":"日本語🌍é"}\n\nevent: b\ndata: two\n\n'
const frames = [
  { id: "7", data: '{"text":"日本語🌍é"}' },
  { id: undefined, data: "two" }
]

describe("frames", () => {
  const forms: ReadonlyArray<readonly [name: string, text: string]> = [
    ["with LF", plain],
    ["with CRLF", plain.replaceAll("\n", "\r\n")],
    ["with lone CR", plain.replaceAll("\n", "\r")],
    ["after a byte order mark", `\uFEFF${plain}`],
    ["with comments", `: hello\n\n:\n${plain.replace("event: b", ": still here\nevent: b")}`],
    ["without spaces after the colons", plain.replaceAll(": ", ":").replace('{"text":', '{"text":')],
    ["with fields nobody knows, and retry", `retry: 10\nfoo: bar\nfoo\n${plain}`],
    ["with an unfinished last frame", `${plain}id: 8\ndata: unfinished`],
    ["with a last frame without its blank line", `${plain}id: 8\ndata: unfinished\n`]
  ]
  for (const [name, text] of forms) {
    it(`are the same ${name}, in one piece and byte by byte`, () => {
      expect(whole(text)).toEqual(frames)
      expect(byteByByte(text)).toEqual(frames)
    })
  }

  it("join lines of data with a newline", () => {
    expect(whole("data: a\ndata:\ndata:  b\n\n")).toEqual([{ id: undefined, data: "a\n\n b" }])
  })

  it("need data: an id alone is no event, and is not kept for the next", () => {
    expect(whole("id: 1\n\ndata: x\n\n")).toEqual([{ id: undefined, data: "x" }])
  })

  it("come at once when all line ends are lone CRs", () => {
    expect(whole("data: x\r\r")).toEqual([{ id: undefined, data: "x" }])
  })

  it("hold a line of a megabyte, in pieces of any size", () => {
    const data = "x".repeat(1_048_576)
    const bytes = encoder.encode(`id: 1\ndata: ${data}\n\n`)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1_021) }, (_, n) =>
      bytes.subarray(n * 1_021, (n + 1) * 1_021)
    )
    expect(read(pieces)).toEqual([{ id: "1", data }])
  })

  it("that do not end are given up before they take all memory", () => {
    const feed = frameReader()
    const megabyte = encoder.encode("x".repeat(1_048_576))
    const found = [feed(encoder.encode("data: ")), ...Array.from({ length: 65 }, () => megabyte)].flatMap((piece) =>
      piece instanceof Uint8Array ? feed(piece) : piece
    )
    expect(found).toEqual([new EndlessFrame()])
  })

  it("are the same wherever the bytes are cut into pieces", () => {
    const line = fc.constantFrom("\n", "\r\n", "\r")
    fc.assert(
      fc.property(
        fc.array(fc.record({ id: fc.nat(), data: fc.fullUnicodeString() }), { maxLength: 8 }),
        line,
        fc.array(fc.nat(), { maxLength: 40 }),
        (events, end, places) => {
          const lines = events.map(({ data, id }) => ({ id: String(id), data: JSON.stringify({ data }) }))
          const text = lines.map(({ id, data }) => `id: ${id}${end}data: ${data}${end}${end}`).join("")
          expect(read(slices(encoder.encode(text), places))).toEqual(lines)
        }
      ),
      { numRuns: 500 }
    )
  })
})
