import { readdirSync, readFileSync } from "node:fs"
import { Schema } from "effect"

const folder = new URL("../golden/jambonz/", import.meta.url)
const load = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), "utf8"))

const Frame = Schema.Record({ key: Schema.String, value: Schema.Unknown })
export type Frame = typeof Frame.Type

/** The golden frames of one direction. */
export const goldenFrames = (direction: "inbound" | "outbound") =>
  readdirSync(folder)
    .filter((file) => file.startsWith(`${direction}.`))
    .map((file) => ({ file, frame: Schema.decodeUnknownSync(Frame)(load(file)) }))

/** The example call of the protocol's page. */
export const aWholeCall = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ direction: Schema.Literal("jambonz → harness", "harness → jambonz"), frame: Frame }))
)(load("a-whole-call.json"))
