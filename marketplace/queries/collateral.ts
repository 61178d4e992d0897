import type { ChainReader } from '../../consensus/chain/reader.ts'
import { bridgeFacts, type NetworkFacts } from '../../consensus/ledger/bridge-facts.ts'
import { mulDivDown } from '../../consensus/primitives/amount.ts'
import { type AssetFacts, recordedAsset } from './assets.ts'
import type { AssetRow } from './tokens.ts'

/** A part of a token's collateral. */
export interface CollateralPart {
  readonly asset: Pick<AssetFacts, 'asset' | 'symbol' | 'decimals' | 'kind'>
  readonly amount: bigint
  readonly held: { readonly in: 'reserve' } | { readonly in: 'vault'; readonly network: NetworkFacts }
}

/**
 * `reserve`: a record on this chain holds it and pays it out. `custody`: vaults on other chains hold it, as the
 * committee attests; nodes of this chain cannot check them.
 */
export interface Collateral {
  readonly method: 'reserve' | 'custody'
  readonly parts: readonly CollateralPart[]
  /** Sum of the parts. One base unit of collateral backs one base unit of the token. */
  readonly total: bigint
  /** total / supply in basis points, rounded down; null while the supply is 0. */
  readonly backingBps: bigint | null
}

const BPS = 10_000n

/** Null if no collateral is promised. */
export function collateralOf(chain: ChainReader, row: AssetRow): Collateral | null {
  if (row.kind === 'bridged') return custodyOf(chain, row)
  if (row.backing === null) return null
  const { reserveAsset, reserve, backingBps } = row.backing
  const asset = recordedAsset(chain, reserveAsset)
  return { method: 'reserve', parts: [{ asset, amount: reserve, held: { in: 'reserve' } }], total: reserve, backingBps }
}

/** The bridge's networks as the next block sees them. */
export function bridgeNetworks({ database, ruleBook, head }: ChainReader): readonly NetworkFacts[] {
  const height = head.header.height + 1
  return bridgeFacts(database, ruleBook.at(height), height).networks
}

function custodyOf(chain: ChainReader, row: AssetRow): Collateral {
  const parts = bridgeNetworks(chain)
    .filter(({ rules, vault }) => rules.asset === row.symbol && vault !== null)
    .map((network) => ({ asset: row, amount: network.float, held: { in: 'vault' as const, network } }))
  const total = parts.reduce((sum, { amount }) => sum + amount, 0n)
  return {
    method: 'custody',
    parts,
    total,
    backingBps: row.supply === 0n ? null : mulDivDown(total, BPS, row.supply),
  }
}
