import type { Dtmf } from "@harness/protocol/jambonz"
import { Effect } from "effect"
import type { Scene } from "./scene.ts"
import { beginUnasked } from "./unasked.ts"

/** After the last key this long nobody waits for another. */
const GATHER_MILLIS = 1_500
/** Keys told at once; nobody dials more in one go. */
const KEYS_MAX = 128

const END = "#"

/** `dtmf`: keys are gathered until none comes, or `#`. They stop nothing. */
export const keyPressed = (scene: Scene, { digits }: Dtmf) =>
  Effect.suspend(() => {
    const { control, timers } = scene
    if (digits === "" || control.isAway) return Effect.void
    control.streakBefore = control.streak
    control.keys = (control.keys + digits).slice(0, KEYS_MAX)
    if (control.keys.includes(END) || control.keys.length === KEYS_MAX) return tellKeys(scene)
    timers.set("keys", GATHER_MILLIS)
    return Effect.void
  })

/** What was gathered is told: to the turn that answers the caller just now, or in a turn of its own. */
export const tellKeys = (scene: Scene) =>
  Effect.gen(function* () {
    const { control, reply, timers } = scene
    const { keys } = control
    timers.clear("keys")
    control.keys = ""
    if (keys === "") return
    const told = keys.endsWith(END) && keys.length > 1 ? keys.slice(0, -1) : keys
    const isOpen = reply !== undefined && !reply.over && reply.state === "open"
    yield* beginUnasked(scene, {
      kind: "keys",
      content: `The caller pressed these keys on the telephone: ${told}`,
      whenBusy: isOpen ? "steer" : "queue",
      manner: { interrupts: true }
    })
  })
