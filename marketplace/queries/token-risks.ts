import { topHolders } from '../../consensus/chain/holders.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { bridgeNetworks, type Collateral } from './collateral.ts'
import { type NameLookAlikes, nameLookAlikes } from './look-alikes.ts'
import { type PoolRow, poolsOf } from './pools.ts'
import { LOW_DEPTH, PriceBook } from './prices.ts'
import { scaledDown } from './ratio.ts'
import type { AssetRow } from './tokens.ts'

/** A pool of a token, with what its other side holds for sellers of the token. */
export interface TokenDepth {
  readonly row: PoolRow
  /** What the other side holds, in base units of the native coin and millionths of a dollar; null without a price. */
  readonly native: bigint | null
  readonly usdMicros: bigint | null
}

/** The facts from which a token's risks are judged. */
export interface TokenRecord {
  readonly row: AssetRow
  readonly collateral: Collateral | null
  /** Amount of the largest holder; null if there are no holders. */
  readonly largest: bigint | null
  readonly pools: readonly TokenDepth[]
  readonly namesakes: NameLookAlikes
}

/** How bad a risk is. */
export type Severity = 'low' | 'medium' | 'high' | 'critical'

const [POOLS_SHOWN, FEW_HOLDERS] = [10, 10] as const
const [PPM, PCT_DECIMALS] = [1_000_000n, 4] as const

/** Severity of every risk, and the points that it takes off a score of 100. The order is that of results. */
export const RISKS = {
  'under-backed': { severity: 'critical', points: 60 },
  frozen: { severity: 'critical', points: 50 },
  'bridge-halted': { severity: 'high', points: 25 },
  'one-holder-has-half': { severity: 'high', points: 20 },
  'unlimited-mint': { severity: 'high', points: 20 },
  'issuer-can-mint': { severity: 'medium', points: 10 },
  'issuer-can-freeze': { severity: 'medium', points: 15 },
  'no-pool': { severity: 'medium', points: 15 },
  'thin-pools': { severity: 'medium', points: 10 },
  'very-thin-pools': { severity: 'high', points: 20 },
  'next-to-nothing-in-pools': { severity: 'high', points: 30 },
  'name-look-alike': { severity: 'medium', points: 10 },
  'custody-elsewhere': { severity: 'low', points: 5 },
  'few-holders': { severity: 'low', points: 5 },
  'hidden-by-issuer': { severity: 'low', points: 5 },
} as const satisfies Readonly<Record<string, { readonly severity: Severity; readonly points: number }>>

/** Name of a risk. */
export type RiskCode = keyof typeof RISKS

/** A risk with its evidence. */
export interface RiskFlag {
  readonly code: RiskCode
  readonly severity: Severity
  readonly points: number
  readonly evidence: string
}

/** Call it within `atOneHead`. */
export async function tokenRecord(
  chain: ChainReader,
  row: AssetRow,
  collateral: Collateral | null,
): Promise<TokenRecord> {
  const [largest] = await topHolders(chain.database, row.asset, 1)
  const pools: TokenDepth[] = []
  for (const pool of await poolsOf(chain, row.asset, POOLS_SHOWN)) pools.push(await depthIn(chain, row, pool))
  const namesakes = await nameLookAlikes(chain, row.name, row.asset)
  return { row, collateral, largest: largest?.amount ?? null, pools, namesakes }
}

async function depthIn(chain: ChainReader, { asset }: AssetRow, row: PoolRow): Promise<TokenDepth> {
  const { x, y, pool } = row
  const [other, amount] = x.asset === asset ? [y, pool.reserveY] : [x, pool.reserveX]
  const book = PriceBook.of(chain)
  const [usdMicros, coin] = await Promise.all([book.valueOf(other.asset, amount), book.priceOf(NATIVE_ASSET)])
  if (other.asset === NATIVE_ASSET) return { row, native: amount, usdMicros }
  if (usdMicros === null || coin === null || coin.microsPerUnit.numerator === 0n)
    return { row, native: null, usdMicros }
  const { numerator, denominator } = coin.microsPerUnit
  return { row, native: scaledDown(usdMicros, { numerator: denominator, denominator: numerator }), usdMicros }
}

/** All risks in the facts of a token. */
export function riskFlags(chain: ChainReader, record: TokenRecord): readonly RiskFlag[] {
  const evidence: Readonly<Record<RiskCode, string | null>> = {
    ...backingEvidence(chain, record),
    ...powerEvidence(record),
    ...holderEvidence(record),
    ...poolEvidence(record),
    'name-look-alike': namesakeEvidence(record),
  }
  const codes = Object.keys(RISKS) as RiskCode[]
  return codes.flatMap((code) => {
    const why = evidence[code]
    return why === null ? [] : [{ code, ...RISKS[code], evidence: why }]
  })
}

/** 100 minus the points of all flags, at least 0. */
export function scoreOf(flags: readonly RiskFlag[]): number {
  return Math.max(0, 100 - flags.reduce((sum, { points }) => sum + points, 0))
}

type Evidence<Code extends RiskCode> = Readonly<Record<Code, string | null>>

function backingEvidence(
  chain: ChainReader,
  { row, collateral }: TokenRecord,
): Evidence<'under-backed' | 'custody-elsewhere' | 'bridge-halted'> {
  const bridged = row.kind === 'bridged' ? row.symbol : collateral?.parts[0]?.asset.symbol
  const halted = bridgeNetworks(chain).filter(({ rules, status }) => rules.asset === bridged && status === 'halted')
  const under = collateral !== null && collateral.total < row.supply
  return {
    'under-backed': under
      ? `${formatAmount(collateral.total, row.decimals)} stand behind a supply of ${formatAmount(row.supply, row.decimals)}`
      : null,
    'custody-elsewhere':
      collateral === null
        ? null
        : `${bridged ?? row.symbol} is held by vaults on other chains, as its committee attests`,
    'bridge-halted': halted.length === 0 ? null : `halted: ${halted.map(({ rules }) => rules.name).join(', ')}`,
  }
}

/** Whether an issuer may mint more of the token without collateral. */
export function isMintable({ kind, issuer, headroom }: AssetRow): boolean {
  return kind === 'plain' && issuer !== null && headroom > 0n
}

function powerEvidence({
  row,
}: TokenRecord): Evidence<'frozen' | 'issuer-can-freeze' | 'unlimited-mint' | 'issuer-can-mint' | 'hidden-by-issuer'> {
  const [mintable, unlimited] = [isMintable(row), row.maxSupply === null]
  return {
    frozen: row.frozen ? 'the issuer has frozen it: it cannot be moved or traded' : null,
    'issuer-can-freeze': row.freezable && row.issuer !== null ? 'the issuer may freeze it at any time' : null,
    'unlimited-mint': mintable && unlimited ? 'the issuer may mint without limit' : null,
    'issuer-can-mint':
      mintable && !unlimited ? `the issuer may mint ${formatAmount(row.headroom, row.decimals)} more` : null,
    'hidden-by-issuer': row.hidden ? 'its issuer keeps it out of listings' : null,
  }
}

function holderEvidence({ row, largest }: TokenRecord): Evidence<'one-holder-has-half' | 'few-holders'> {
  const half = largest !== null && 2n * largest >= row.supply
  const sharePct = largest === null ? '0' : formatAmount((largest * PPM) / row.supply, PCT_DECIMALS)
  const few = row.supply > 0n && row.holders < FEW_HOLDERS
  return {
    'one-holder-has-half': half ? `the largest holder has ${sharePct} % of the supply` : null,
    'few-holders': few
      ? `${row.holders === 1 ? '1 address holds' : `${row.holders} addresses hold`} it; fewer than ${FEW_HOLDERS}`
      : null,
  }
}

/**
 * Dollars against the token in its deepest pool, in millionths, below which a risk applies; the lowest limit that
 * applies counts. A pool with almost no depth is worse than no pool, because its price misleads.
 */
const THINNESS = [
  ['next-to-nothing-in-pools', LOW_DEPTH / 1_000n],
  ['very-thin-pools', LOW_DEPTH / 10n],
  ['thin-pools', LOW_DEPTH],
] as const
type Thinness = (typeof THINNESS)[number][0]

function poolEvidence({ pools }: TokenRecord): Evidence<'no-pool' | Thinness> {
  const known = pools.flatMap(({ usdMicros }) => usdMicros ?? [])
  const deepest = known.reduce((most, micros) => (micros > most ? micros : most), 0n)
  // If a depth is unknown, so is the deepest pool. Then no thinness is reported.
  const isKnown = pools.length > 0 && known.length === pools.length
  const thinness = isKnown ? THINNESS.find(([, below]) => deepest < below)?.[0] : undefined
  const evidence = (code: Thinness): string | null =>
    code === thinness ? `the deepest pool holds ${formatAmount(deepest, 6)} dollars against it` : null
  return {
    'no-pool': pools.length === 0 ? 'no pool trades it' : null,
    'thin-pools': evidence('thin-pools'),
    'very-thin-pools': evidence('very-thin-pools'),
    'next-to-nothing-in-pools': evidence('next-to-nothing-in-pools'),
  }
}

function namesakeEvidence({ namesakes: { found } }: TokenRecord): string | null {
  return found.length === 0 ? null : `its name reads like that of ${found.map(({ symbol }) => symbol).join(', ')}`
}
