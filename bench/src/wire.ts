import { Agent, type IncomingMessage, request } from "node:http"
import { TOKEN } from "./processes.ts"

export interface Answer {
  readonly status: number
  readonly text: string
}

/** Plain HTTP over kept connections; the same for ours and for the baseline. */
export interface Caller {
  readonly send: (method: string, path: string, body?: unknown) => Promise<Answer>
  /** The answer as it comes, for streams. */
  readonly open: (method: string, path: string, body?: unknown) => Promise<IncomingMessage>
  readonly close: () => void
}

const text = async (response: IncomingMessage): Promise<string> => {
  response.setEncoding("utf8")
  let whole = ""
  for await (const chunk of response) whole += chunk
  return whole
}

/** A caller of one server. An answer that is no success is an error: a benchmark of refusals is none. */
export const caller = (url: string, sockets = 64): Caller => {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const open = (method: string, path: string, body?: unknown): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
      const ask = request(
        `${url}${path}`,
        {
          method,
          agent,
          headers: {
            authorization: `Bearer ${TOKEN}`,
            ...(bytes === undefined ? {} : { "content-type": "application/json", "content-length": bytes.length })
          }
        },
        resolve
      )
      ask.on("error", reject)
      ask.end(bytes)
    })
  return {
    open,
    send: async (method, path, body) => {
      const response = await open(method, path, body)
      const answer = { status: response.statusCode ?? 0, text: await text(response) }
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      return answer
    },
    close: () => agent.destroy()
  }
}
