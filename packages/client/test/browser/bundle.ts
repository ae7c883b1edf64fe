import { fileURLToPath } from "node:url"
import { build } from "esbuild"

/** The page's script with the built client in it, as one file that imports nothing. */
export const bundle = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./page.ts", import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    // No polyfills, and nothing of Node's: an import of it would not be found.
    platform: "browser",
    target: "es2022"
  })
  return outputFiles[0]?.text ?? ""
}
