import { type Amount, mulDivDown } from '../primitives/amount.ts'
import type { Hash, TokenSymbol } from '../primitives/ids.ts'
import type { StateView } from '../state/view.ts'
import { stableOf, surplusOf } from './stable.ts'
import { supplyOf } from './supply.ts'

const BPS = 10_000n

/** Reserve and supply have the same base units. */
export interface StableFacts {
  readonly symbol: TokenSymbol
  readonly reserveAsset: Hash
  readonly reserve: Amount
  readonly supply: Amount
  /** reserve / supply in basis points, rounded down; null while there is no supply. */
  readonly backingBps: bigint | null
  /** What all holders together can redeem: the lower of reserve and supply. */
  readonly redeemable: Amount
  /** What the issuer can withdraw: the reserve above the supply. */
  readonly surplus: Amount
}

/** The facts of a stable token; undefined if there is none with that symbol. */
export function stableFacts(view: StateView, symbol: TokenSymbol): StableFacts | undefined {
  const stable = stableOf(view, symbol)
  if ('code' in stable) return undefined
  const { reserveAsset, reserve } = stable.backing
  const supply = supplyOf(view, stable.asset)
  return {
    ...{ symbol, reserveAsset, reserve, supply },
    backingBps: supply === 0n ? null : mulDivDown(reserve, BPS, supply),
    redeemable: reserve < supply ? reserve : supply,
    surplus: surplusOf(reserve, supply),
  }
}
