import { EntryId, type ExternalTool, type ReplaceSessionConfigurationRequestValue, TurnId } from "@harness/protocol"
import { type ApplicationUpdate, type InjectedMessage, readApplicationUpdate } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import { History } from "../history/History.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { Submissions } from "../turns/Submissions.ts"
import { externalOf, isJambonz } from "../voice/applicationTools.ts"
import { CALLER, mintId, overlooked, type Scene } from "./scene.ts"

/** Somebody else may change a configuration at the same moment. */
const TRIES = 3

type Changed = Partial<Pick<ReplaceSessionConfigurationRequestValue, "systemPrompt" | "externalTools">>

/** Changes the call's configuration: a new revision, from the next turn on. */
const configure = (scene: Scene, change: (now: { readonly externalTools: ReadonlyArray<ExternalTool> }) => Changed) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const { sessionId } = scene
    const once = Effect.gen(function* () {
      const { revision, ...now } = yield* sessions.configuration(sessionId)
      yield* sessions.configure(sessionId, { ...now, ...change(now), expectedRevision: revision }, CALLER)
    })
    yield* Effect.ignoreLogged(Effect.retry(once, { times: TRIES }))
  })

const roleOf = ({ role }: InjectedMessage) => (role === "user" || role === "assistant" ? role : "custom")

/** What the application wants known: entries, in their order. */
const inject = (scene: Scene, messages: ReadonlyArray<InjectedMessage>) =>
  Effect.gen(function* () {
    const history = yield* History
    for (const message of messages) {
      if (message.text.trim() === "") continue
      const role = roleOf(message)
      const entryId = EntryId.make(`injected-${yield* mintId}`)
      const custom = role === "custom" ? { custom: { type: "voice.injected", details: { role: message.role } } } : {}
      yield* Effect.ignoreLogged(
        history.append(scene.sessionId, entryId, { role, content: message.text, ...custom }, CALLER)
      )
    }
  })

/** The application wants the agent to speak, though nobody asked. */
const generate = (
  scene: Scene,
  asked: {
    readonly user_input?: string | undefined
    readonly instructions?: string | undefined
    readonly interrupt: boolean
  }
) =>
  Effect.gen(function* () {
    const submissions = yield* Submissions
    const { instructions, interrupt, user_input } = asked
    const words = [user_input, instructions].filter((text) => text !== undefined && text.trim() !== "").join("\n\n")
    const turnId = TurnId.make(`update-${yield* mintId}`)
    yield* submissions
      .submit(
        scene.sessionId,
        turnId,
        {
          role: instructions === undefined && user_input !== undefined ? "user" : "custom",
          content: words === "" ? "Say what is to be said now." : words,
          custom: { type: "voice.generate_reply" },
          whenBusy: interrupt ? "interrupt" : "queue"
        },
        CALLER,
        { detach: true }
      )
      .pipe(Effect.ignoreLogged)
  })

/** `application_update`: what the application that brought the call wants of us in the middle of it. */
export const update = (scene: Scene, event: ApplicationUpdate) =>
  Effect.gen(function* () {
    const asked = readApplicationUpdate(event)
    switch (asked.kind) {
      case "inject_context":
        return yield* inject(scene, asked.messages)
      case "generate_reply":
        return yield* generate(scene, asked)
      case "update_instructions":
        return yield* configure(scene, () => ({ systemPrompt: asked.instructions }))
      case "update_tools":
        return yield* configure(scene, ({ externalTools }) => ({
          externalTools: [...externalTools.filter(({ name }) => !isJambonz(name)), ...asked.tools.map(externalOf)]
        }))
      case "other": {
        yield* inject(scene, [
          { role: "system", text: `The application sent ${asked.updateType}: ${JSON.stringify(asked.data ?? null)}` }
        ])
        return yield* overlooked(scene, "an application_update of a kind we do not know")
      }
    }
  })
