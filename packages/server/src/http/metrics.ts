import { Clock, Effect, Metric, MetricBoundaries, MetricState } from "effect"

const millis = MetricBoundaries.fromIterable([1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000])

const requests = Metric.counter("harness_http_requests_total", {
  description: "HTTP answers, by class of status",
  incremental: true
})
const byClass = [1, 2, 3, 4, 5].map((digit) => Metric.tagged(requests, "status", `${digit}xx`))
const durations = Metric.histogram(
  "harness_http_request_millis",
  millis,
  "Time to an answer's head, in milliseconds; a waiting request waits"
)

/** Counts one answer. */
export const countRequest = (status: number, startedAtMillis: number): Effect.Effect<void> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    byClass[Math.floor(status / 100) - 1]?.unsafeUpdate(1, [])
    durations.unsafeUpdate(now - startedAtMillis, [])
  })

const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')
const nameOf = (name: string) => name.replace(/[^A-Za-z0-9_:]/g, "_")

type Labels = ReadonlyArray<readonly [string, string]>

const sample = (name: string, labels: Labels, value: number | bigint) => {
  const inside = labels.map(([key, label]) => `${nameOf(key)}="${escaped(label)}"`).join(",")
  return `${name}${inside === "" ? "" : `{${inside}}`} ${value}`
}

/** The type of a metric in the text format, and its samples. */
const samplesOf = (
  name: string,
  labels: Labels,
  state: MetricState.MetricState.Untyped
): readonly [type: string, lines: ReadonlyArray<string>] => {
  if (MetricState.isCounterState(state)) return ["counter", [sample(name, labels, state.count)]]
  if (MetricState.isGaugeState(state)) return ["gauge", [sample(name, labels, state.value)]]
  if (MetricState.isFrequencyState(state)) {
    return ["counter", [...state.occurrences].map(([key, count]) => sample(name, [...labels, ["value", key]], count))]
  }
  if (MetricState.isHistogramState(state)) {
    const buckets = [...state.buckets].filter(([le]) => Number.isFinite(le) && le < Number.MAX_VALUE)
    return [
      "histogram",
      [
        ...buckets.map(([le, count]) => sample(`${name}_bucket`, [...labels, ["le", String(le)]], count)),
        sample(`${name}_bucket`, [...labels, ["le", "+Inf"]], state.count),
        sample(`${name}_sum`, labels, state.sum),
        sample(`${name}_count`, labels, state.count)
      ]
    ]
  }
  if (MetricState.isSummaryState(state)) {
    const quantiles = [...state.quantiles].flatMap(([quantile, value]) =>
      value._tag === "Some" ? [sample(name, [...labels, ["quantile", String(quantile)]], value.value)] : []
    )
    return [
      "summary",
      [...quantiles, sample(`${name}_sum`, labels, state.sum), sample(`${name}_count`, labels, state.count)]
    ]
  }
  return ["untyped", []]
}

/** Every metric of this process, in Prometheus' text format. */
export const prometheusText: Effect.Effect<string> = Effect.map(Metric.snapshot, (pairs) => {
  const families = new Map<string, { help: string; type: string; lines: Array<string> }>()
  for (const { metricKey, metricState } of pairs) {
    const name = nameOf(metricKey.name)
    const labels = metricKey.tags.map((tag) => [tag.key, tag.value] as const)
    const [type, lines] = samplesOf(name, labels, metricState)
    const help = metricKey.description._tag === "Some" ? metricKey.description.value : ""
    const family = families.get(name) ?? { help, type, lines: [] }
    family.lines.push(...lines)
    families.set(name, family)
  }
  return [...families]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { help, type, lines }]) =>
      [
        ...(help === "" ? [] : [`# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`]),
        `# TYPE ${name} ${type}`,
        ...lines,
        ""
      ].join("\n")
    )
    .join("")
})
