import { Type } from 'typebox'
import { POOLS } from '../../../amm/pool.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { recordedAsset } from '../../queries/assets.ts'
import type { Movement, Place } from '../../queries/movements.ts'
import { poolName } from '../../queries/pools.ts'
import { assetAmount, DECIMAL_AMOUNT, SYMBOL } from '../amounts.ts'

/** One end of a movement: the kind of place, and its name. */
export const END = Type.Object({ place: Type.String(), name: Type.String() })

/** A movement: an amount of an asset, from one end to the other. */
export const MOVEMENT = {
  from: END,
  to: END,
  amount: DECIMAL_AMOUNT,
  decimals: Type.Integer(),
  symbol: SYMBOL,
}

/** A movement in the form of {@link MOVEMENT}. */
export function movementFacts(chain: ChainReader, { asset, amount, from, to }: Movement) {
  return {
    ...{ from: endFacts(chain, from), to: endFacts(chain, to) },
    ...assetAmount(recordedAsset(chain, asset), amount),
  }
}

/** A place in the form of {@link END}. */
export function endFacts(chain: ChainReader, end: Place): { readonly place: string; readonly name: string } {
  const { ruleBook, database, head } = chain
  switch (end.place) {
    case 'address':
      return { place: end.place, name: formatAddress(ruleBook.params.addressPrefix, end.address) }
    case 'pool': {
      const pool = database.get(POOLS, end.poolId)
      return { place: end.place, name: pool === undefined ? end.poolId : poolName(chain, pool) }
    }
    case 'escrow':
    case 'tab':
      return { place: end.place, name: end.agentId }
    case 'bridge': {
      const { networks } = ruleBook.at(head.header.height).bridge
      return { place: end.place, name: networks[end.network]?.name ?? String(end.network) }
    }
    default:
      return { place: end.place, name: end.place }
  }
}
