import type { Line } from "./lines.ts"
import type { HeldLine, ToolVoice, VerbSettings, VoiceLimits, VoiceSettings } from "./VoiceSettings.ts"

/** How long a call of the caller's side may take when its tool says nothing else. */
export const TOOL_TIMEOUT_MILLIS = 30_000

/** An agent's voice with nothing left open. What has no default is absent. */
export interface Voice {
  readonly lines: Readonly<Record<Exclude<HeldLine, "greeting">, Line>> & { readonly greeting?: Line }
  readonly filler: ReadonlyArray<Line>
  readonly uninterruptible: ReadonlySet<HeldLine>
  readonly language?: string
  readonly speculation: boolean
  readonly cleanup: boolean
  readonly transfer: ReadonlyArray<string>
  readonly fallbackModel?: string
  readonly askPermissions: boolean
  readonly summary: boolean
  readonly goodbyeAfter: number
  readonly limits: VoiceLimits
  readonly tools: Readonly<Record<string, ToolVoice>>
  readonly fillerAfterMillis: number
  readonly fillerEveryMillis: number
  readonly firstTokenMillis: number
  readonly verb: VerbSettings
}

/** The settings with every default filled in; an agent without any has a voice too. */
export const voiceOf = (settings: VoiceSettings = {}): Voice => ({
  lines: {
    reprompt: settings.reprompt ?? "Are you still there?",
    apology: settings.apology ?? "Sorry, something went wrong. Could you try that again?",
    repeat: settings.repeat ?? "Sorry, could you say that again?",
    goodbye: settings.goodbye ?? "Goodbye.",
    ...(settings.greeting === undefined ? {} : { greeting: settings.greeting })
  },
  filler: settings.filler ?? ["One moment, please."],
  uninterruptible: new Set(settings.uninterruptible),
  speculation: settings.speculation ?? true,
  cleanup: settings.cleanup ?? true,
  transfer: settings.transfer ?? [],
  askPermissions: settings.askPermissions ?? false,
  summary: settings.summary ?? false,
  goodbyeAfter: settings.goodbyeAfter ?? 3,
  limits: settings.limits ?? {},
  tools: settings.tools ?? {},
  fillerAfterMillis: settings.fillerAfterMillis ?? 1_500,
  fillerEveryMillis: settings.fillerEveryMillis ?? 8_000,
  firstTokenMillis: settings.firstTokenMillis ?? 3_000,
  verb: settings.verb ?? {},
  ...(settings.language === undefined ? {} : { language: settings.language }),
  ...(settings.fallbackModel === undefined ? {} : { fallbackModel: settings.fallbackModel })
})

/** What a voice says of one tool, its deadline and its way with an interruption filled in. */
export const toolVoice = (
  voice: Voice,
  name: string
): ToolVoice & { readonly timeoutMillis: number; readonly onInterrupt: "cancel" | "detach" } => {
  const own: ToolVoice = Object.hasOwn(voice.tools, name) ? (voice.tools[name] ?? {}) : {}
  return { ...own, timeoutMillis: own.timeoutMillis ?? TOOL_TIMEOUT_MILLIS, onInterrupt: own.onInterrupt ?? "detach" }
}
