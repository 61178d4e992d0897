import { type Static, Type } from 'typebox'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import type { AssetFacts } from '../queries/assets.ts'
import type { PoolRow } from '../queries/pools.ts'
import { compareRatios, type Ratio, ratio, significantText, times } from '../queries/ratio.ts'
import { ASSET_AMOUNT, assetAmount, orNull } from './amounts.ts'

/** A change in per cent, which may be below 0, truncated to 4 decimals. */
export const CHANGE_PCT = Type.Number()
/** A price as a number, rounded to 10 significant digits; null if unknown. */
export const PRICE = orNull(Type.Number({ exclusiveMinimum: 0 }))
/** Id, name and fee of a pool. */
export const POOL_NAME = {
  id: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  pool: Type.String(),
  feePct: Type.Number({ minimum: 0 }),
}
/** A pool with its reserves. */
export const POOL_HOLDINGS = Type.Object({ ...POOL_NAME, reserves: Type.Array(ASSET_AMOUNT) })

const PRICE_DIGITS = 10
const BPS_OF_ONE_PCT = 100

/** Id, name and fee of a pool. */
export function poolName({ poolId, name, pool }: PoolRow): {
  readonly id: string
  readonly pool: string
  readonly feePct: number
} {
  return { id: poolId, pool: name, feePct: pool.feeBps / BPS_OF_ONE_PCT }
}

/** A pool with both reserves. */
export function poolHoldings(row: PoolRow): Static<typeof POOL_HOLDINGS> {
  const { x, y, pool } = row
  return { ...poolName(row), reserves: [assetAmount(x, pool.reserveX), assetAmount(y, pool.reserveY)] }
}

/** Converts a price per base unit to a price per whole unit, rounded to 10 significant digits. */
export function wholePrice(
  perUnit: Ratio,
  of: Pick<AssetFacts, 'decimals'>,
  into: Pick<AssetFacts, 'decimals'>,
): number {
  return Number(
    significantText(times(perUnit, ratio(10n ** BigInt(of.decimals), 10n ** BigInt(into.decimals))), PRICE_DIGITS),
  )
}

/** 100 (now - before) / before, truncated to 4 decimals; `before` must not be 0. */
export function changePct(now: Ratio, before: Ratio): number {
  const part = now.numerator * before.denominator - before.numerator * now.denominator
  return Number((part * 1_000_000n) / (before.numerator * now.denominator)) / 10_000
}

/** now - before in whole units, rounded to 10 significant digits. */
export function changeAbs(
  [now, before]: readonly [Ratio, Ratio],
  of: Pick<AssetFacts, 'decimals'>,
  into: Pick<AssetFacts, 'decimals'>,
): number {
  const fell = compareRatios(now, before) < 0
  const [high, low] = fell ? [before, now] : [now, before]
  const apart = ratio(
    high.numerator * low.denominator - low.numerator * high.denominator,
    high.denominator * low.denominator,
  )
  const size = wholePrice(apart, of, into)
  return fell ? -size : size
}

/** Converts parts per million to per cent. */
export function pctOfPpm(ppm: bigint): number {
  return Number(ppm) / 10_000
}

/** Names of the fields that are null. */
export function unknownIn(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(fields).filter((name) => fields[name] === null)
}

/** The envelope of a sample of a service that reads the chain. */
export function sampleEnvelope(service: ServiceId) {
  return {
    service: service as string,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: 'chain' as const,
    height: 12345,
    blockHash: '9f2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
  }
}

/** The pool id in samples. */
export const SAMPLE_POOL = '5b0de1c6c2aa7e0f3d4b92716a8c5e4f1029384756abcdef0123456789abcdef'
