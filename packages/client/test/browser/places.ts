import { existsSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createContext, runInContext } from "node:vm"
import { Effect } from "effect"
import { chromium } from "playwright-core"
import type { Found, Told } from "./page.ts"

const known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

/** The browser to test in: the one that is named (`none`: no browser), else one that is there. */
export const browserPath = (): string | undefined => {
  const named = process.env["HARNESS_CHROMIUM"]
  if (named !== undefined && named !== "") return named === "none" ? undefined : named
  return known.find((path) => existsSync(path))
}

/** An origin of its own with an empty page. */
export const emptyPage = Effect.gen(function* () {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>page</title>")
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
})

/** Runs the script in Chromium, on a page of that origin. */
export const inChromium = (executablePath: string, origin: string, script: string, told: Told) =>
  Effect.gen(function* () {
    const browser = yield* Effect.acquireRelease(
      Effect.promise(() => chromium.launch({ executablePath, args: ["--no-sandbox"] })),
      (browser) => Effect.promise(() => browser.close())
    )
    return yield* Effect.promise(async (): Promise<Found> => {
      const page = await browser.newPage()
      await page.goto(origin)
      await page.addScriptTag({ content: script })
      return page.evaluate(`visit(${JSON.stringify(told)})`)
    })
  })

/** Runs the script where there is nothing but the language and what the web and Node have in common. */
export const inBareRealm = (script: string, told: Told) =>
  Effect.promise((): Promise<Found> => {
    const { AbortController, AbortSignal, DOMException, Headers, Request, Response, ReadableStream, TextDecoder } =
      globalThis
    const { TextEncoder, URL, URLSearchParams, FormData, crypto, fetch, performance, queueMicrotask } = globalThis
    const { clearInterval, clearTimeout, setInterval, setTimeout, console, Uint8Array, Error, TypeError } = globalThis
    const web = { AbortController, AbortSignal, DOMException, Headers, Request, Response, ReadableStream, TextDecoder }
    const more = { TextEncoder, URL, URLSearchParams, FormData, crypto, fetch, performance, queueMicrotask }
    const context = createContext({
      ...web,
      ...more,
      ...{ clearInterval, clearTimeout, setInterval, setTimeout, console, Uint8Array, Error, TypeError }
    })
    runInContext(script, context)
    return runInContext(`visit(${JSON.stringify(told)})`, context)
  })
