import type { ModelFacts } from '../models/backend.ts'
import type { LatencyFigures } from '../models/latencies.ts'
import type { BackendFacts } from '../models/pool.ts'

/** As operators write it: `8B`, `1.5 T`, `~700M`. */
const DECLARED = /^~?\s?(\d{1,6}(?:\.\d{1,4})?)\s?([kmbt])$/i
const MULTIPLES: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, b: 1e9, t: 1e12 }
const UNITS = [
  ['T', 1e12],
  ['B', 1e9],
  ['M', 1e6],
  ['K', 1e3],
] as const
/** Further names are only counted. */
const NAMES_MAX = 12

/** Null if the text is not a number with a unit. */
export function declaredCount(text: string): number | null {
  const [, digits, unit] = DECLARED.exec(text.trim()) ?? []
  if (digits === undefined || unit === undefined) return null
  return Math.round(Number(digits) * (MULTIPLES[unit.toLowerCase()] as number))
}

/** A large number in short, such as `1.5T`. */
export function countText(count: number): string {
  const [unit, multiple] = UNITS.find(([, least]) => count >= least) ?? ['', 1]
  return `${Math.round((count / multiple) * 100) / 100}${unit}`
}

/** `unknown` if no parameters are declared, `at least` if some are missing. */
export function totalParameters(models: readonly ModelFacts[]): string {
  const counts = models.map(({ declaredParameters }) =>
    declaredParameters === null ? null : declaredCount(declaredParameters),
  )
  const known = counts.filter((count) => count !== null)
  if (known.length === 0) return 'unknown'
  const total = countText(known.reduce((sum, count) => sum + count, 0))
  return known.length === counts.length ? total : `at least ${total}`
}

/** Each model once, by its id. Parameters come from the first backend that declares them. */
export function distinctModels(
  facts: readonly BackendFacts[],
  fits: (model: ModelFacts) => boolean,
): readonly ModelFacts[] {
  const found = new Map<string, ModelFacts>()
  for (const model of facts.flatMap(({ models }) => models).filter(fits)) {
    const known = found.get(model.id)
    if (known === undefined || known.declaredParameters === null) found.set(model.id, model)
  }
  return [...found.values()]
}

/** Names of models on one line. */
export function namesOf(models: readonly ModelFacts[]): string {
  const names = models.slice(0, NAMES_MAX).map(({ id }) => id)
  const more = models.length - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Such as `Fast; p50 0.4 s, p95 0.9 s over 120 answers`. */
export function speedText(label: string, figures: LatencyFigures | null): string {
  if (figures === null) return `${label}; not measured yet`
  const { count, p50Ms, p95Ms } = figures
  const answers = `${count} ${count === 1 ? 'answer' : 'answers'}`
  return `${label}; p50 ${secondsText(p50Ms)}, p95 ${secondsText(p95Ms)} over ${answers}`
}

/** Useful precision: `0.04 s`, `0.4 s`, `12 s`. */
export function secondsText(ms: number): string {
  const decimals = ms < 100 ? 3 : ms < 10_000 ? 1 : 0
  return `${Number((ms / 1_000).toFixed(decimals))} s`
}

/** A whole number with thousands separators. */
export function groupedNumber(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}
