import type {
  PermissionRequest,
  Question,
  ServerStreamEventValue,
  SessionStreamEventValue,
  TurnChange,
  TurnPart,
  TurnSnapshot,
  TurnStreamEventValue
} from "@harness/protocol"
import type { Writer } from "../Surroundings.ts"
import { askTitle } from "./asks.ts"
import type { Style } from "./style.ts"
import { oneLine, visible } from "./text.ts"
import { callLine, settledLine } from "./tools.ts"
import { endText, usageText } from "./turns.ts"

/** Anything a watcher can see. */
export type WatchedEvent = ServerStreamEventValue | SessionStreamEventValue | TurnStreamEventValue

/** What is known of a turn that has not ended, so that nothing is said twice. */
interface Known {
  state: TurnSnapshot["state"] | undefined
  readonly said: Set<string>
  readonly calls: Map<string, string>
}

const isTerminal = (state: TurnSnapshot["state"]) =>
  state === "completed" || state === "failed" || state === "cancelled"

const replies = { once: "allowed once", always: "allowed always", reject: "rejected" } as const

/** A request on lines of their own: what it is, all of it that fits a line, and how to answer. */
const asked = (request: PermissionRequest, style: Style): ReadonlyArray<string> => {
  const detail = oneLine(visible(request.detail), 400)
  return [
    `${style.yellow("?")} ${style.yellow(askTitle(request))} ${style.dim(request.requestId)}`,
    ...(detail === "" ? [] : [`  ${style.dim("│")} ${detail}`])
  ]
}

/** A question, and what there is to choose from. */
const questioned = ({ questionId, questions }: Question, style: Style): ReadonlyArray<string> =>
  questions.map(({ options, question }, at) => {
    const choices = options.map(({ label }, n) => `${n + 1} ${oneLine(label, 60)}`).join(", ")
    const id = at === 0 ? style.dim(questionId) : ""
    return [`${style.yellow("?")} ${style.yellow(oneLine(question, 300))}`, choices, id]
      .filter((text) => text !== "")
      .join(" ")
  })

/** Events as lines, each whole in itself: for a person at a screen, and for `grep`. */
export class EventLines {
  private readonly out: Writer
  private readonly turns = new Map<string, Known>()

  constructor(out: Writer) {
    this.out = out
  }

  /** The lines of one event; empty for previews and signs of life. */
  take(event: WatchedEvent): string {
    const prefix = this.prefix(event)
    return this.said(event)
      .map((text) => `${prefix}${text}\n`)
      .join("")
  }

  private prefix(event: WatchedEvent): string {
    const { isTerminal, style } = this.out
    const at = "at" in event ? event.at : undefined
    const time = at === undefined ? "" : `${style.dim(isTerminal ? at.slice(11, 19) : at)} `
    const session = "sessionId" in event ? `${style.cyan(event.sessionId)} ` : ""
    return `${time}${session}`
  }

  private said(event: WatchedEvent): ReadonlyArray<string> {
    const { style } = this.out
    switch (event.type) {
      case "session.created": {
        const { title, workdir, model, spawnedFrom } = event.session
        const known = "replayed" in event && event.replayed === true ? "" : " created"
        const what = spawnedFrom === undefined ? "session" : `sub-agent of ${style.cyan(spawnedFrom.sessionId)}`
        return [
          `${what}${known}${title === "" ? "" : ` "${oneLine(title, 80)}"`} ${style.dim(`in ${workdir} with ${model}`)}`
        ]
      }
      case "session.title":
        return [`title "${oneLine(event.title, 80)}"`]
      case "session.deleted":
        return [style.yellow("session deleted")]
      case "session.configuration":
        return [`configuration ${event.configuration.revision} ${style.dim(event.configuration.model)}`]
      case "session.entry":
        return [`entry ${event.entry.role} ${style.dim(event.entry.entryId)}`]
      case "session.compaction":
        return [`compaction ${event.compaction.state}`]
      case "turn.snapshot":
      case "turn.terminal":
      case "session.turn.snapshot":
        return this.turn(event.turn)
      case "turn.tool.requested":
      case "session.turn.tool.requested": {
        this.known(event.turnId).calls.set(event.call.callId, event.call.name)
        return [callLine(event.call.name, event.call.arguments, style)]
      }
      case "turn.tool.completed":
      case "session.turn.tool.completed": {
        const { calls } = this.known(event.turnId)
        const name = calls.get(event.callId) ?? event.callId
        calls.delete(event.callId)
        return [settledLine(name, event.state, event.result.content, style)]
      }
      case "turn.approval.requested":
      case "session.turn.approval.requested":
        return asked(event.request, style)
      case "turn.approval.resolved":
      case "session.turn.approval.resolved": {
        const by = event.actor === undefined ? "" : ` by ${oneLine(event.actor.actorId, 40)}`
        const why = event.message === undefined || event.message === "" ? "" : `: ${oneLine(event.message, 200)}`
        return [`! ${replies[event.reply]}${by}${why} ${style.dim(event.requestId)}`]
      }
      case "turn.question.asked":
      case "session.turn.question.asked":
        return questioned(event.question, style)
      case "turn.question.replied":
      case "session.turn.question.replied": {
        const said = event.answers.map((one) => oneLine(one.join(", "), 200)).join("; ")
        return [`! answered ${said} ${style.dim(event.questionId)}`]
      }
      case "turn.question.rejected":
      case "session.turn.question.rejected":
        return [`! not answered ${style.dim(event.questionId)}`]
      default:
        return []
    }
  }

  private known(turnId: string): Known {
    const held = this.turns.get(turnId) ?? { state: undefined, said: new Set(), calls: new Map() }
    this.turns.set(turnId, held)
    return held
  }

  private turn(turn: TurnChange): ReadonlyArray<string> {
    const { style } = this.out
    const known = this.known(turn.turnId)
    const prompt = known.state === undefined && turn.prompt !== undefined ? promptOf(turn.prompt) : ""
    const id = style.dim(turn.turnId)
    const parts = turn.parts.flatMap((part) => {
      const text = this.part(part)
      const key = `${part.partId} ${text}`
      if (text === "" || known.said.has(key)) return []
      known.said.add(key)
      return [text]
    })
    const changed = known.state !== turn.state
    known.state = turn.state
    if (isTerminal(turn.state)) this.turns.delete(turn.turnId)
    if (!changed) return parts
    const usage = isTerminal(turn.state) ? usageText(turn.usage) : ""
    const paint = turn.state === "failed" ? style.red : turn.state === "completed" ? style.green : style.bold
    const state = [`turn ${paint(endText(turn))}`, id, style.dim(usage), prompt].filter((text) => text !== "").join(" ")
    return isTerminal(turn.state) ? [...parts, state] : [state, ...parts]
  }

  private part(part: TurnPart): string {
    const { columns, style } = this.out
    const limit = Math.min(400, Math.max(40, columns - 48))
    switch (part.type) {
      case "text":
        return part.done && part.text.trim() !== "" ? oneLine(part.text, limit) : ""
      case "refusal":
        return part.done ? style.yellow(oneLine(part.text, limit)) : ""
      case "reasoning":
        return part.done && part.text.trim() !== "" ? style.dim(oneLine(part.text, limit)) : ""
      case "notice":
        return style.dim(`! ${oneLine(part.message, limit)}`)
      case "steer":
        return part.applied ? style.dim("+ said meanwhile, and heard") : ""
      default:
        return ""
    }
  }
}

const promptOf = (prompt: TurnSnapshot["prompt"]): string =>
  `"${oneLine(prompt.content.map((part) => (part.type === "text" ? part.text : `(${part.mime})`)).join(" "), 80)}"`
