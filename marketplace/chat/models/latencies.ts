const HOUR_MS = 3_600_000
/** One day, including the current hour. */
const HOURS = 24
/** Each bucket is a tenth above the last, so a reported time is off by at most five percent. */
const STEP = Math.log(1.1)
/** Longer times count as this. */
const MS_MAX = 3_600_000
/** Times under further names are not kept. */
const NAMES_MAX = 1_024

/** Response times of the last day. */
export interface LatencyFigures {
  readonly count: number
  readonly p50Ms: number
  readonly p95Ms: number
}

interface Hour {
  readonly hour: number
  readonly counts: Map<number, number>
}

/** Histogram of times over the last day, with at most about 160 buckets for each hour. */
export class Latencies {
  readonly #hours: (Hour | undefined)[] = Array.from({ length: HOURS })

  note(ms: number, nowMs: number): void {
    const hour = Math.floor(nowMs / HOUR_MS)
    const place = hour % HOURS
    const kept = this.#hours[place]
    const counts = kept?.hour === hour ? kept.counts : new Map<number, number>()
    const bucket = Math.round(Math.log(Math.min(MS_MAX, Math.max(1, ms))) / STEP)
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
    this.#hours[place] = { hour, counts }
  }

  /** Null if there are no times of the last day. */
  figures(nowMs: number): LatencyFigures | null {
    const hour = Math.floor(nowMs / HOUR_MS)
    const sums = new Map<number, number>()
    for (const kept of this.#hours) {
      if (kept === undefined || kept.hour > hour || kept.hour <= hour - HOURS) continue
      for (const [bucket, count] of kept.counts) sums.set(bucket, (sums.get(bucket) ?? 0) + count)
    }
    const sorted = [...sums].toSorted(([one], [other]) => one - other)
    const count = sorted.reduce((sum, [, times]) => sum + times, 0)
    return count === 0 ? null : { count, p50Ms: within(sorted, count / 2), p95Ms: within(sorted, (count * 19) / 20) }
  }
}

function within(sorted: readonly (readonly [bucket: number, count: number])[], rank: number): number {
  let passed = 0
  const found = sorted.find(([, count]) => {
    passed += count
    return passed >= rank
  })
  return Math.round(Math.exp((found?.[0] ?? 0) * STEP))
}

/** Histograms by name. */
export class LatencyBook {
  readonly #kept = new Map<string, Latencies>()

  note(name: string, ms: number, nowMs: number): void {
    const kept = this.#kept.get(name) ?? new Latencies()
    if (this.#kept.size >= NAMES_MAX && !this.#kept.has(name)) return
    this.#kept.set(name, kept)
    kept.note(ms, nowMs)
  }

  figures(name: string, nowMs: number): LatencyFigures | null {
    return this.#kept.get(name)?.figures(nowMs) ?? null
  }

  get names(): readonly string[] {
    return [...this.#kept.keys()]
  }
}
