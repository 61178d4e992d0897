import { floorOf } from './arithmetic.ts'
import { need } from './outcome.ts'
import type { Fields } from './payloads.ts'
import type { Place } from './place.ts'
import { needRoom, TOKEN_KIND, tokenIn } from './token-kinds.ts'

/** The stable token with a symbol, its reserve and its supply. */
function stableIn(place: Place, symbol: string) {
  const { asset, token } = tokenIn(place, symbol)
  need(token.kind === TOKEN_KIND.stable, 'wrongKind')
  const { reserveAsset, reserve } = place.ledger.stableReserves.of(asset)
  const { minted, burned } = place.ledger.supply.of(asset)
  return { asset, token, reserveAsset, reserve, supply: minted - burned }
}

export function stableDeposit(place: Place, { symbol, amount }: Fields<'stable_deposit'>): void {
  const { ledger, sender } = place
  const { asset, reserveAsset, reserve } = stableIn(place, symbol)
  ledger.take(sender, reserveAsset, amount)
  ledger.stableReserves.set(asset, { reserveAsset, reserve: reserve + amount })
}

export function stableMint(place: Place, { symbol, to, amount, create }: Fields<'stable_mint'>): void {
  const { ledger, sender } = place
  const { asset, token, reserve, supply } = stableIn(place, symbol)
  need(token.issuer === sender, 'notIssuer')
  need(!token.frozen, 'frozen')
  need(supply + amount <= reserve, 'underBacked')
  needRoom(ledger, asset, amount)
  ledger.mint(amount, asset)
  ledger.give(to, asset, amount, create)
}

export function stableRedeem(place: Place, { symbol, amount, minPaid }: Fields<'stable_redeem'>): bigint[] {
  const { ledger, sender } = place
  const { asset, reserveAsset, reserve, supply } = stableIn(place, symbol)
  ledger.take(sender, asset, amount)
  const paid = reserve >= supply ? amount : floorOf(amount * reserve, supply)
  need(paid > 0n && paid >= minPaid, 'belowMinimumPaid')
  ledger.burn(amount, asset)
  ledger.stableReserves.set(asset, { reserveAsset, reserve: reserve - paid })
  ledger.give(sender, reserveAsset, paid)
  return [paid]
}

export function stableWithdraw(place: Place, { symbol, amount }: Fields<'stable_withdraw'>): void {
  const { ledger, sender } = place
  const { asset, token, reserveAsset, reserve, supply } = stableIn(place, symbol)
  need(token.issuer === sender, 'notIssuer')
  need(amount <= reserve - supply, 'noSurplus')
  ledger.stableReserves.set(asset, { reserveAsset, reserve: reserve - amount })
  ledger.give(sender, reserveAsset, amount)
}
