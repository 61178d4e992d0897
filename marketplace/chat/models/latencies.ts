const HOUR_MS = 3_600_000
/** The hour that runs and those before it: what is older than a day is forgotten. */
const HOURS = 24
/** Times that are told apart differ by a tenth; what is told is wrong by half of that at most. */
const STEP = Math.log(1.1)
/** Longer times count as so long. */
const MS_MAX = 3_600_000
/** Names of which times are kept; whatever comes after them is not. */
const NAMES_MAX = 1_024

/** How long something took within the last day. */
export interface LatencyFigures {
  readonly count: number
  /** Half of them took no longer, within five in a hundred. */
  readonly p50Ms: number
  /** Nineteen of twenty took no longer. */
  readonly p95Ms: number
}

interface Hour {
  readonly hour: number
  readonly counts: Map<number, number>
}

/** How long something takes, over the last day. Takes memory for some hundred numbers an hour at most, however much is noted. */
export class Latencies {
  readonly #hours: (Hour | undefined)[] = Array.from({ length: HOURS })

  /** Notes one time. */
  note(ms: number, nowMs: number): void {
    const hour = Math.floor(nowMs / HOUR_MS)
    const place = hour % HOURS
    const kept = this.#hours[place]
    const counts = kept?.hour === hour ? kept.counts : new Map<number, number>()
    const bucket = Math.round(Math.log(Math.min(MS_MAX, Math.max(1, ms))) / STEP)
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
    this.#hours[place] = { hour, counts }
  }

  /** What was noted within the last day; null where nothing was. */
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

/** Time of the first so many. */
function within(sorted: readonly (readonly [bucket: number, count: number])[], rank: number): number {
  let passed = 0
  const found = sorted.find(([, count]) => {
    passed += count
    return passed >= rank
  })
  return Math.round(Math.exp((found?.[0] ?? 0) * STEP))
}

/** The same for several things, each by its name. */
export class LatencyBook {
  readonly #kept = new Map<string, Latencies>()

  /** Notes one time under a name. */
  note(name: string, ms: number, nowMs: number): void {
    const kept = this.#kept.get(name) ?? new Latencies()
    if (this.#kept.size >= NAMES_MAX && !this.#kept.has(name)) return
    this.#kept.set(name, kept)
    kept.note(ms, nowMs)
  }

  /** What was noted under a name within the last day; null where nothing was. */
  figures(name: string, nowMs: number): LatencyFigures | null {
    return this.#kept.get(name)?.figures(nowMs) ?? null
  }

  /** The names under which something was noted, ever. */
  get names(): readonly string[] {
    return [...this.#kept.keys()]
  }
}
