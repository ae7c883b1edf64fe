import {
  bargeIn,
  drop,
  listen,
  press,
  reply,
  type Step,
  say,
  silence,
  tools,
  update,
  words
} from "@harness/phone/script"
import type { CallSettings } from "@harness/phone/settings"
import type { Chance } from "./random.ts"

/** What can happen in a random call. */
export type Kind =
  | "plain"
  | "markup"
  | "bargeIn"
  | "wordless"
  | "again"
  | "tool"
  | "lateTool"
  | "draft"
  | "drop"
  | "generate"
  | "inject"
  | "prompt"
  | "noise"
  | "silence"
  | "dtmf"
  | "hangup"
  | "transfer"

/** Some steps of the phone's script, or a prompt that somebody else gives the call's session. */
export type Act = { readonly steps: ReadonlyArray<Step> } | { readonly prompt: string }

/** A random call, before it is made. */
export interface Plan {
  readonly kinds: ReadonlyArray<Kind>
  readonly acts: ReadonlyArray<Act>
  readonly agent: string
  readonly settings: typeof CallSettings.Encoded
  /** The caller hangs up at once, whatever is said or about to be; else when there is nothing more to be heard. */
  readonly inMidst: boolean
}

/** How many of the agents there are; they differ in their voice. */
export const AGENTS = ["quiet", "eager", "filling"] as const

/** How much faster than life the caller is. What is said to last so long in the harness's own time lasts this much longer in the call's. */
export const SPEED = 40

/** What the model is asked for is the last of the caller's words. */
export const wishes = ["talk", "markup", "tool", "talktool", "long", "bye", "pass"] as const
export type Wish = (typeof wishes)[number]

const pauseFor = (millis: number): Step => silence((millis * SPEED) / 1_000)

const openings = ["Well, now", "I wonder", "Tell me", "One more thing", "Yes, and please"] as const

/** Makes the parts of one call. Each thing the caller says is said once. */
const makers = (dice: Chance, seed: number) => {
  let said = 0
  const wish = (...among: readonly [Wish, ...ReadonlyArray<Wish>]) =>
    `${dice.pick(openings)}, number ${seed} ${said++} ${dice.pick(among)}`
  const steps = (...all: ReadonlyArray<Step>): ReadonlyArray<Act> => [{ steps: all }]
  const interim = (text: string) => (dice.next() < 0.5 ? { interim: [text.split(" ").slice(0, 3).join(" ")] } : {})
  const ask = (...among: readonly [Wish, ...ReadonlyArray<Wish>]): Step => {
    const text = wish(...among)
    return say(text, dice.next() < 0.3 ? { interim: false } : interim(text))
  }
  const speech = (): Step => ask("talk", "markup", "tool", "talktool", "long")
  const over = (most: number): Step => {
    const text = wish("talk", "markup", "tool", "talktool")
    return bargeIn({ afterWords: dice.whole(0, most), text, ...interim(text) })
  }
  /** Where something nobody asked for comes: when nothing is said, into a reply, or while its turn is open. */
  const before = (): ReadonlyArray<Step> =>
    dice.pick([[], [listen()], [listen()], [ask("talk", "long"), words(dice.whole(0, 4))]])
  /** What is said because of it is heard, is spoken into, or comes when it comes. */
  const after = (): ReadonlyArray<Step> => dice.pick([[], [reply()], [over(5)], [pauseFor(dice.whole(0, 500))]])
  const ending = (): ReadonlyArray<Step> => [dice.next() < 0.7 ? reply() : over(3)]
  const make: Record<Kind, () => ReadonlyArray<Act>> = {
    plain: () => steps(ask("talk"), reply()),
    markup: () => steps(ask("markup"), reply()),
    bargeIn: () => steps(speech(), over(12)),
    wordless: () => steps(ask("talk", "long"), bargeIn({ afterWords: dice.whole(1, 8) }), reply()),
    again: () => steps(speech(), over(9), over(6), over(4)),
    tool: () =>
      steps(tools({ look: { result: { found: dice.whole(1, 9) }, afterMs: dice.whole(0, 4_000) } }), ask("tool")),
    lateTool: () => {
      const answer = dice.next() < 0.8 ? { result: "found at last" } : { error: "nothing there" }
      return steps(
        tools({ look: { ...answer, afterMs: dice.whole(2_000, 14_000) } }),
        ask("tool", "talktool"),
        silence(dice.whole(0, 3_000) / 1_000),
        over(3)
      )
    },
    draft: () => {
      const [text, other] = [wish("talk", "tool"), wish("talk")]
      const thought = dice.pick<ReadonlyArray<string>>([
        [text],
        [other, text],
        [`${text.toUpperCase()}.`],
        [text, other]
      ])
      return steps(listen(), say(text, { interim: thought }), reply())
    },
    drop: () => {
      const resumeAfterMs = dice.whole(0, 600)
      const gone = drop({ resumeAfterMs, halfOpen: dice.next() < 0.3 })
      const back = pauseFor(resumeAfterMs + 50)
      return dice.next() < 0.4 ? steps(listen(), gone, back) : steps(speech(), words(dice.whole(0, 5)), gone, back)
    },
    generate: () => {
      const data = dice.pick<object>([
        { user_input: wish("talk") },
        { instructions: wish("talk", "markup") },
        { user_input: wish("talk"), interrupt: true }
      ])
      return steps(...before(), update("generate_reply", data), ...after())
    },
    inject: () => steps(update("inject_context", { messages: [{ role: "system", content: `Note ${said++}.` }] })),
    prompt: () => [...steps(...before()), { prompt: wish("talk", "tool") }, ...steps(...after())],
    noise: () => steps(ask("talk", "long"), bargeIn({ afterWords: 0 }), reply()),
    silence: () => steps(listen(), silence(dice.whole(3, 40))),
    dtmf: () => {
      const keys = press(dice.pick(["1", "42#", "0#"]))
      return dice.next() < 0.3 ? steps(keys, pauseFor(dice.whole(0, 100))) : steps(...before(), keys, ...after())
    },
    hangup: () => steps(ask("bye"), ...ending()),
    transfer: () => steps(ask("pass"), ...ending())
  }
  return make
}

/** The call of a seed, of things of these kinds. */
export const randomCall = (seed: number, dice: Chance, among: readonly [Kind, ...ReadonlyArray<Kind>]): Plan => {
  const make = makers(dice, seed)
  const kinds = Array.from({ length: dice.whole(1, 3) }, () => dice.pick(among))
  const inMidst = dice.next() < 0.2
  const end: ReadonlyArray<Act> = !inMidst && dice.next() < 0.8 ? [{ steps: [listen(), silence(10), listen()] }] : []
  return {
    kinds,
    acts: [...kinds.flatMap((kind) => make[kind]()), ...end],
    inMidst,
    agent: dice.pick(AGENTS),
    settings: {
      speed: SPEED,
      rate: dice.whole(2, 4),
      noResponseTimeout: kinds.includes("silence") ? 2 : 0,
      firstChunkTimeoutMs: 20_000,
      reconnectMs: 10_000,
      transfer: { outcome: dice.pick(["bridged", "failed", "returned"]), afterMs: 1_000 },
      transferDestination: "+15085550177",
      tools: [{ name: "look", description: "Looks it up", parameters: { type: "object", properties: {} } }],
      toolAnswers: { look: { result: { found: 1 } } }
    }
  }
}
