import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Major, MajorPrice } from '../../../marketplace/ports/crypto-prices.ts'
import type { JsonAt } from './json-at.ts'
import type { Provider } from './provider.ts'

/** One provider's prices of the major assets at one moment. */
export interface MajorQuotes {
  /** Assets without a price are left out. */
  readonly prices: Readonly<Partial<Record<Major, MajorPrice>>>
  readonly globalMarketCapUsd: number | null
}

/** All major assets in one query. */
export type QuoteProvider = Provider<null, MajorQuotes>

/** What an adapter for prices needs. */
export interface QuoteDependencies {
  /** Base address; null for the provider's own. */
  readonly url: string | null
  readonly key: string | null
  readonly clock: Clock
}

/** Anything outside was misread. */
const USD = { min: 1e-6, max: 1e9 }
const CHANGE_PCT = { min: -100, max: 100_000 }
/** Clocks differ, so a price may be slightly ahead. */
const AGE_MS_MAX = 3_600_000
const AHEAD_MS_MAX = 300_000
const DECIMAL = /^-?[0-9]{1,12}(\.[0-9]{1,18})?$/

/** Reads a price from a JSON number. */
export function usdNumber(json: JsonAt): number {
  return json.number(USD.min, USD.max)
}

/** Reads a price from a decimal text. */
export function usdText(json: JsonAt): number {
  return within(json, Number(json.like(DECIMAL)), USD)
}

/** Per cent. */
export function changeNumber(json: JsonAt): number | null {
  return json.maybe((here) => here.number(CHANGE_PCT.min, CHANGE_PCT.max))
}

/** Per cent. */
export function changeText(json: JsonAt): number | null {
  return json.maybe((here) => within(here, Number(here.like(DECIMAL)), CHANGE_PCT))
}

/** The time of a price as ISO text. The JSON counts units of `unitMs` milliseconds since 1970. */
export function momentOf(json: JsonAt, unitMs: number, clock: Clock): string {
  const ms = json.number(0, 8e15 / unitMs) * unitMs
  const ageMs = clock.now() - ms
  if (ageMs > AGE_MS_MAX) return json.wrong('is more than an hour ago')
  return ageMs < -AHEAD_MS_MAX ? json.wrong('is yet to come') : new Date(ms).toISOString()
}

function within(json: JsonAt, value: number, { min, max }: { readonly min: number; readonly max: number }): number {
  return value >= min && value <= max ? value : json.wrong(`is not from ${min} to ${max}`)
}
