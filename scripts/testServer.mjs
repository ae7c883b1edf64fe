/**
 * Runs once before all tests (vitest's globalSetup): the server's process as a few files instead of a thousand. The suite
 * starts hundreds, and each is up in half the time. The program's own tests start what a user starts.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

const server = new URL("../packages/server/", import.meta.url)

/** Packages that read a file beside their own code, and so stay where they are. */
const inPlace = {
  name: "in-place",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^(better-sqlite3|sh-syntax)$/ }, ({ path, importer }) => ({
      path: pathToFileURL(createRequire(importer).resolve(path)).href,
      external: true
    }))
  }
}

export const setup = async () => {
  // Where the server's own packages are found.
  const cache = fileURLToPath(new URL("node_modules/.cache/", server))
  mkdirSync(cache, { recursive: true })
  const outdir = mkdtempSync(`${cache}test-server-`)
  await build({
    entryPoints: [fileURLToPath(new URL("test/kit/serve.mjs", server))],
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "error",
    plugins: [inPlace],
    banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' }
  })
  process.env.HARNESS_TEST_SERVER = `${outdir}/serve.js`
  return () => rmSync(outdir, { recursive: true, force: true })
}
