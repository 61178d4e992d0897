import { Type } from 'typebox'
import type { AssetFacts } from '../queries/assets.ts'
import type { SupplyPlaces } from '../queries/supply.ts'
import { amountText, DECIMAL_AMOUNT } from './amounts.ts'

const PLACES = ['inPools', 'inReserves', 'staked', 'forStakers', 'inEscrow', 'maturing'] as const

/** Units that no address holds, by where they are. */
export const EXCLUDED = Type.Array(
  Type.Object({
    place: Type.Unsafe<(typeof PLACES)[number]>({ type: 'string', enum: [...PLACES] }),
    amount: DECIMAL_AMOUNT,
  }),
)

/** Where an asset is besides at addresses; places that hold nothing of it are left out. */
export function excludedFrom(
  asset: Pick<AssetFacts, 'decimals'>,
  places: SupplyPlaces,
): { readonly place: (typeof PLACES)[number]; readonly amount: string }[] {
  return PLACES.flatMap((place) => (places[place] === 0n ? [] : [{ place, amount: amountText(asset, places[place]) }]))
}
