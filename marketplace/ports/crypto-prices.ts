import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** Assets with dollar prices. */
export const MAJORS = ['BTC', 'ETH', 'SOL', 'BNB', 'LTC'] as const

/** One of {@link MAJORS}. */
export type Major = (typeof MAJORS)[number]

/** Price of an asset in dollars. */
export interface MajorPrice {
  readonly usd: number
  /** Change within 24 hours in per cent; null if no provider gives it. */
  readonly change24hPct: number | null
  /** Time of the oldest price that was used (ISO 8601). */
  readonly asOf: string
}

/** Prices of the majors at one time. */
export interface MajorPrices {
  /** A price is null if no provider has it, or if the providers differ too much to trust any of them. */
  readonly majors: Readonly<Record<Major, MajorPrice | null>>
  /** Null if no provider gives it. */
  readonly globalMarketCapUsd: number | null
  /** Providers whose prices were used. */
  readonly sources: readonly string[]
  /** Largest difference between two providers in per cent; null if no asset has two prices. */
  readonly disagreementPct: number | null
}

/** Follows the dollar prices of the majors. */
export interface CryptoPrices {
  readonly readiness: () => Readiness
  readonly majors: (signal: AbortSignal) => Promise<Result<Sourced<MajorPrices>>>
  /** The last prices; null if they are too old. It waits for no request. */
  readonly latest: () => Sourced<MajorPrices> | null
}
