import type { CallResult, JsonObject } from "@harness/protocol"
import { Duration, Effect, Either, Option, Schema } from "effect"
import { readUrl, WebError } from "../../workspace/addresses.ts"
import { makeRequest, type WebResponse } from "../../workspace/request.ts"
import type { WebAccess } from "../../workspace/WebAccess.ts"
import { errorResult, textResult } from "../results.ts"
import { type Tool, type ToolContext, ToolRefusal } from "../Tool.ts"
import { note } from "./findIn.ts"

const REDIRECTS_MAX = 5
const BODY_MAX_BYTES = 2_097_152
const FETCH_MILLIS = 30_000
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5"

const Arguments = Schema.Struct({ url: Schema.String })

const inputSchema = {
  type: "object",
  properties: { url: { type: "string", minLength: 1, description: "The whole URL, http or https" } },
  required: ["url"],
  additionalProperties: false
}

const decode = (args: JsonObject) => Schema.decodeUnknown(Arguments)(args).pipe(Effect.orDie)

const problem = (error: WebError): CallResult => errorResult(error.code, error.message)

const bareName = (url: URL): string => url.hostname.replace(/^www\./, "")

/** The same site, as a person who allowed one URL understands it; leaving https is not. */
const staysHome = (from: URL, to: URL): boolean =>
  bareName(from) === bareName(to) && (to.protocol === "https:" || from.protocol === "http:")

interface Landed {
  readonly response: WebResponse
  /** Where it would go on, on another site. */
  readonly elsewhere?: URL
}

const targetOf = (response: WebResponse): string | undefined => {
  const location = response.headers["location"]
  if (!REDIRECTS.has(response.status) || location === undefined) return undefined
  return URL.canParse(location, response.url) ? new URL(location, response.url).href : location
}

const tooMany = new WebError({
  code: "url.unreachable",
  message: `The page leads on more than ${REDIRECTS_MAX} times.`
})

type WebText = typeof import("../webText.ts")

const resultOf = ({ elsewhere, response }: Landed, asked: URL, { webText }: WebText): CallResult => {
  const { body, headers, status, truncated, url } = response
  const contentType = headers["content-type"] ?? ""
  const about = {
    url,
    status,
    ...(contentType === "" ? {} : { contentType }),
    bytes: body.length,
    ...(truncated ? { truncated } : {})
  }
  if (elsewhere !== undefined) {
    return textResult(`This page has moved to another site. If it is wanted, fetch it there: ${elsewhere.href}`, {
      ...about,
      redirect: elsewhere.href
    })
  }
  const text = webText(body, contentType, url)
  const failed = status < 200 || status > 299
  if (Option.isNone(text)) {
    const what = `${truncated ? "more than " : ""}${body.length} bytes${contentType === "" ? "" : ` of ${contentType}`}`
    return failed
      ? errorResult("webfetch.status", `The server answered with status ${status}.`, about)
      : errorResult("webfetch.binary", `This is not text: ${what}.`, about)
  }
  const notes = [
    ...(failed ? [`The server answered with status ${status}:`] : []),
    ...(url === asked.href ? [] : [`[from ${url}]`])
  ]
  const cut = truncated ? [note(`cut here: the page is longer than ${BODY_MAX_BYTES} bytes`)] : []
  const shown = [...notes, text.value === "" ? "[no text]" : text.value, ...cut].join("\n\n")
  return failed ? errorResult("webfetch.status", shown, about) : textResult(shown, about)
}

/** Fetches a page as text, from public addresses unless told otherwise. */
export const webfetchTool = (access: typeof WebAccess.Service): Tool => {
  const request = makeRequest(access)

  const follow = (url: URL, left: number): Effect.Effect<Landed, WebError> =>
    Effect.gen(function* () {
      const response = yield* request(url, {
        headers: { accept: ACCEPT },
        timeoutMillis: FETCH_MILLIS,
        maxBytes: BODY_MAX_BYTES
      })
      const target = targetOf(response)
      if (target === undefined) return { response }
      const next = yield* readUrl(target, access.allowPrivateUrls)
      if (!staysHome(url, next)) return { response, elsewhere: next }
      if (left === 0) return yield* tooMany
      return yield* follow(next, left - 1)
    })

  const run = (args: JsonObject, _context: ToolContext): Effect.Effect<CallResult> =>
    Effect.gen(function* () {
      const url = yield* readUrl((yield* decode(args)).url, access.allowPrivateUrls)
      const landed = yield* follow(url, REDIRECTS_MAX).pipe(
        Effect.timeoutFail({
          duration: Duration.millis(FETCH_MILLIS),
          onTimeout: () => new WebError({ code: "url.timeout", message: "The server did not answer in time." })
        })
      )
      // Read when the first page is: what makes text of pages is a good part of a start.
      return resultOf(landed, url, yield* Effect.promise(() => import("../webText.ts")))
    }).pipe(Effect.catchTag("WebError", (error) => Effect.succeed(problem(error))))

  return {
    name: "webfetch",
    description:
      "Fetches a page from the internet and gives its text. Only public http and https addresses; pages that need a login cannot be read.",
    inputSchema,
    readOnly: true,
    timeoutMillis: FETCH_MILLIS + 5_000,
    resource: (args) =>
      Effect.flatMap(decode(args), ({ url }) =>
        Either.match(readUrl(url, access.allowPrivateUrls), {
          onLeft: (error) => new ToolRefusal({ result: problem(error) }),
          onRight: ({ href, host }) =>
            Effect.succeed({
              permission: "webfetch",
              patterns: [href],
              title: `Fetch from ${host}`,
              detail: href,
              outside: false
            })
        })
      ),
    run
  }
}
