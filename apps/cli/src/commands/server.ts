import { loadSettings, type SettingsFlags, startServer } from "@harness/server"
import { Effect } from "effect"
import type { Running } from "../command.ts"
import { failed, misused } from "../failures.ts"
import { letYoungGrow } from "../memory.ts"
import { serverLines } from "../render/server.ts"
import { Surroundings } from "../Surroundings.ts"

/** Draining ends by itself well before this. What was acknowledged is on the disk, so that a hard end loses nothing. */
const END_WITHIN = "9 seconds"

/** Runs a server until somebody stops it. */
export const server = (flags: SettingsFlags): Running =>
  Effect.gen(function* () {
    const { cwd, env, err, home, out, pid, stopped } = yield* Surroundings
    const reread = loadSettings({ flags, env, cwd, home })
    const settings = yield* reread.pipe(
      Effect.mapError(({ key, message, reason, source }) =>
        source === "command line"
          ? misused(`${key} ${reason}`)
          : failed({ code: "settings.invalid", message, details: { key, source } })
      )
    )
    const output = { format: "plain", write: (line: string) => err.push(`${line}\n`) } as const
    const serving = startServer(settings, output, { cwd, reread }).pipe(
      Effect.mapError((error) =>
        failed({ code: "code" in error ? error.code : "server.start", message: error.message })
      ),
      Effect.flatMap((running) => out.write(serverLines(running, pid, out.style))),
      Effect.zipRight(Effect.sync(letYoungGrow)),
      Effect.zipRight(Effect.never)
    )
    yield* Effect.raceFirst(
      Effect.disconnect(Effect.scoped(Effect.raceFirst(serving, stopped))),
      Effect.flatMap(stopped, () => Effect.sleep(END_WITHIN))
    )
  })
