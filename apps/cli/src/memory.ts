import { setFlagsFromString } from "node:v8"

/**
 * While a program loads, nearly everything it makes stays. A young generation that grew for it would be kept, some 30 MiB,
 * by a server that then idles.
 */
export const keepYoungSmall = (): void => setFlagsFromString("--semi-space-growth-factor=1")

/** From here on memory grows with the work, as usual. */
export const letYoungGrow = (): void => setFlagsFromString("--semi-space-growth-factor=2")
