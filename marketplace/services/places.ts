import { Type } from 'typebox'
import type { AssetFacts } from '../queries/assets.ts'
import type { SupplyPlaces } from '../queries/supply.ts'
import { amountText, DECIMAL_AMOUNT } from './amounts.ts'

const PLACES = ['inPools', 'inReserves', 'staked', 'forStakers', 'inEscrow', 'inTabs', 'maturing'] as const

/** Units that are not at an address, by place. */
export const EXCLUDED = Type.Array(
  Type.Object({
    place: Type.Unsafe<(typeof PLACES)[number]>({ type: 'string', enum: [...PLACES] }),
    amount: DECIMAL_AMOUNT,
  }),
)

/** Places without units are left out. */
export function excludedFrom(
  asset: Pick<AssetFacts, 'decimals'>,
  places: SupplyPlaces,
): { readonly place: (typeof PLACES)[number]; readonly amount: string }[] {
  return PLACES.flatMap((place) => (places[place] === 0n ? [] : [{ place, amount: amountText(asset, places[place]) }]))
}
