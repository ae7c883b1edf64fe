import { Context, Effect, Layer, Redacted } from "effect"

const MARK = "<redacted>"
/** A shorter text would take words out of every line. */
const SECRET_MIN_LENGTH = 6

// What looks like a secret is one, whoever it belongs to.
const patterns: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(Bearer\s+)[^\s"',;]+/gi, `$1${MARK}`],
  [/\b(hrn|whsec)_[A-Za-z0-9_-]{8,}/g, MARK],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, MARK],
  [/\bAIza[A-Za-z0-9_-]{16,}/g, MARK],
  [/([?&](?:token|access_token|api_key|key|secret)=)[^&\s"'#]+/gi, `$1${MARK}`]
]

/** Takes secrets out of anything that is shown: those it was told, and what looks like one. */
export class Redaction extends Context.Tag("@harness/server/Redaction")<
  Redaction,
  {
    /** From now on this value is shown nowhere. */
    readonly add: (secret: Redacted.Redacted | string) => Effect.Effect<void>
    readonly text: (text: string) => string
    /** Texts anywhere inside a JSON value. */
    readonly json: (value: unknown) => unknown
  }
>() {
  static readonly layer = (secrets: ReadonlyArray<Redacted.Redacted | undefined>) =>
    Layer.sync(Redaction, () => {
      const known = new Set<string>()
      const add = (secret: Redacted.Redacted | string) => {
        const value = Redacted.isRedacted(secret) ? Redacted.value(secret) : secret
        if (value.length < SECRET_MIN_LENGTH) return
        known.add(value)
        // The same value inside a JSON text or a URL.
        known.add(JSON.stringify(value).slice(1, -1))
        known.add(encodeURIComponent(value))
      }
      for (const secret of secrets) if (secret !== undefined) add(secret)
      const text = (shown: string) => {
        let clean = shown
        for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, MARK)
        for (const [pattern, mark] of patterns) clean = clean.replace(pattern, mark)
        return clean
      }
      const json = (value: unknown): unknown => {
        if (typeof value === "string") return text(value)
        if (Array.isArray(value)) return value.map(json)
        if (typeof value !== "object" || value === null) return value
        return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]))
      }
      return { add: (secret) => Effect.sync(() => add(secret)), text, json }
    })
}
