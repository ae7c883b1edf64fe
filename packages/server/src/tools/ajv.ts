import { createRequire } from "node:module"
import type { Ajv2020, Options } from "ajv/dist/2020.js"

const require = createRequire(import.meta.url)

/** A validator of JSON Schema. Its package is read with the first one: most starts need none, and it takes 30 ms. */
export const makeAjv = (options: Options): Ajv2020 => {
  const { Ajv2020 }: typeof import("ajv/dist/2020.js") = require("ajv/dist/2020.js")
  return new Ajv2020(options)
}
