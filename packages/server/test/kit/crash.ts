import { EventEmitter } from "node:events"
import { type Harness, type HarnessOptions, startHarness } from "./harness.ts"
import { wire } from "./wire.ts"

/** A server that may be killed at any moment, and comes back on the same data. */
export interface Mortal {
  /** The server that runs, or the one that is about to. */
  readonly up: () => Promise<Harness>
  /**
   * SIGKILL, then a start. Answers when it is up again. `early`: the first start dies, too, after so many milliseconds
   * unless it is up by then.
   */
  readonly crash: (early?: number) => Promise<Harness>
  /** A server that dies by itself at a point, `point:session:n`: the one that runs when it is armed so already. */
  readonly arm: (point: string) => Promise<Harness>
  /**
   * Settles when the armed one has died and another is up. The next ones are armed with these points, one after another: one
   * that dies while it starts is followed by the next.
   */
  readonly fall: (...points: ReadonlyArray<string>) => Promise<Harness>
  /** SIGTERM, then a start. Answers when it is up again. */
  readonly restart: () => Promise<Harness>
  /** By when each one was dead, as the wall clock says: what the log holds up to then was written before. */
  readonly deaths: ReadonlyArray<number>
  readonly stop: () => Promise<void>
}

export const mortal = async (options: HarnessOptions): Promise<Mortal> => {
  const deaths: Array<number> = []
  let armed = options.env?.["HARNESS_CRASH_AT"] ?? ""
  const start = (point: string) => {
    armed = point
    return startHarness({ ...options, env: { ...options.env, HARNESS_CRASH_AT: point } })
  }
  let up = startHarness(options)
  await up
  /** The first start that lives; only the last has to. */
  const revive = async (points: ReadonlyArray<string>): Promise<Harness> => {
    const [point = "", ...more] = points
    if (more.length === 0) return start(point)
    try {
      const born = await start(point)
      await born.gone
    } catch {
      // It died while it started.
    }
    deaths.push(Date.now())
    return revive(more)
  }
  const again = async (dying: Promise<Harness>, early: number | undefined) => {
    await (await dying).kill()
    deaths.push(Date.now())
    if (early === undefined) return startHarness(options)
    const signal = AbortSignal.timeout(early)
    const born = await startHarness({ ...options, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    await born?.kill()
    deaths.push(Date.now())
    return startHarness(options)
  }
  return {
    up: () => up,
    crash: (early) => {
      up = again(up, early)
      return up
    },
    arm: async (point) => {
      if (armed === point) return up
      await (await up).kill()
      deaths.push(Date.now())
      up = start(point)
      return up
    },
    fall: async (...points) => {
      const signal = await (await up).gone
      if (signal !== "SIGKILL") throw new Error(`the server ended with ${signal}`)
      deaths.push(Date.now())
      up = revive(points)
      return up
    },
    restart: () => {
      const leaving = up
      up = (async () => {
        await (await leaving).stop()
        return startHarness(options)
      })()
      return up
    },
    deaths,
    stop: async () => {
      await (await up).stop()
    }
  }
}

/** Asks until there is an answer, of whichever server lives: the same question each time. */
export const insist = async <A>(server: Mortal, ask: (api: ReturnType<typeof wire>) => Promise<A>): Promise<A> => {
  for (;;) {
    const asked = await server.up()
    try {
      return await ask(wire(asked))
    } catch (error) {
      // Only a death excuses an answer that did not come.
      if ((await server.up()) === asked) throw error
    }
  }
}

/** Things that happen, counted, so that a moment can be chosen among them. */
export class Happenings {
  private readonly events = new EventEmitter().setMaxListeners(0)

  readonly happen = (): void => {
    this.events.emit("fact")
  }

  /** Settles at the count-th fact from now. */
  after(count: number): Promise<void> {
    return new Promise((resolve) => {
      let left = count
      const heard = () => {
        left -= 1
        if (left > 0) return
        this.events.off("fact", heard)
        resolve()
      }
      this.events.on("fact", heard)
    })
  }
}
