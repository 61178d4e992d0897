import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Major, MajorPrice } from '../../../marketplace/ports/crypto-prices.ts'
import type { JsonAt } from './json-at.ts'
import type { Provider } from './provider.ts'

/** What one provider says of the majors at one moment. */
export interface MajorQuotes {
  /** Those that it has no price of are left out. */
  readonly prices: Readonly<Partial<Record<Major, MajorPrice>>>
  /** Null where it does not tell. */
  readonly globalMarketCapUsd: number | null
}

/** Somebody who is asked for all majors at once. */
export type QuoteProvider = Provider<null, MajorQuotes>

/** What an adapter of prices is made from. */
export interface QuoteDependencies {
  /** Base address where it is not the provider's own. */
  readonly url: string | null
  readonly key: string | null
  readonly clock: Clock
}

/** Dollars that anything of value costs; what lies outside was read wrongly. */
const USD = { min: 1e-6, max: 1e9 }
const CHANGE_PCT = { min: -100, max: 100_000 }
/** A price that is older is none of now; clocks may differ by a little. */
const AGE_MS_MAX = 3_600_000
const AHEAD_MS_MAX = 300_000
const DECIMAL = /^-?[0-9]{1,12}(\.[0-9]{1,18})?$/

/** A price that JSON has as a number. */
export function usdNumber(json: JsonAt): number {
  return json.number(USD.min, USD.max)
}

/** A price that JSON has as a decimal text. */
export function usdText(json: JsonAt): number {
  return within(json, Number(json.like(DECIMAL)), USD)
}

/** A change in per cent that JSON has as a number; null where there is none. */
export function changeNumber(json: JsonAt): number | null {
  return json.maybe((here) => here.number(CHANGE_PCT.min, CHANGE_PCT.max))
}

/** A change in per cent that JSON has as a decimal text; null where there is none. */
export function changeText(json: JsonAt): number | null {
  return json.maybe((here) => within(here, Number(here.like(DECIMAL)), CHANGE_PCT))
}

/** Moment of a price, given in units of so many milliseconds since 1970, as ISO text. */
export function momentOf(json: JsonAt, unitMs: number, clock: Clock): string {
  const ms = json.number(0, 8e15 / unitMs) * unitMs
  const ageMs = clock.now() - ms
  if (ageMs > AGE_MS_MAX) return json.wrong('is more than an hour ago')
  return ageMs < -AHEAD_MS_MAX ? json.wrong('is yet to come') : new Date(ms).toISOString()
}

function within(json: JsonAt, value: number, { min, max }: { readonly min: number; readonly max: number }): number {
  return value >= min && value <= max ? value : json.wrong(`is not from ${min} to ${max}`)
}
