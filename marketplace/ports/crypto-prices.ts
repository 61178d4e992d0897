import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** Assets whose dollar prices are followed. */
export const MAJORS = ['BTC', 'ETH', 'SOL', 'BNB', 'LTC'] as const

/** Symbol of one of them. */
export type Major = (typeof MAJORS)[number]

/** Price of an asset in dollars. */
export interface MajorPrice {
  readonly usd: number
  /** Per cent; null where no provider tells. */
  readonly change24hPct: number | null
  /** When the price was made (ISO 8601). */
  readonly asOf: string
}

/** Prices of the majors at one moment. */
export interface MajorPrices {
  /** Null where no provider has a price, or where they are too far apart for any of them to be believed. */
  readonly majors: Readonly<Record<Major, MajorPrice | null>>
  /** Null where no provider tells. */
  readonly globalMarketCapUsd: number | null
  /** Names of the providers whose prices count. */
  readonly sources: readonly string[]
  /** Widest distance between two providers in per cent; null with only one. */
  readonly disagreementPct: number | null
}

/** Follows dollar prices of the majors. */
export interface CryptoPrices {
  readonly readiness: () => Readiness
  readonly majors: (signal: AbortSignal) => Promise<Result<Sourced<MajorPrices>>>
  /** What was told last, if not too old to be told again: for documents, without asking anybody. */
  readonly latest: () => Sourced<MajorPrices> | null
}
