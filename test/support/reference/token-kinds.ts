import { hex, utf8, ZERO32 } from './bytes.ts'
import { type Ledger, NATIVE } from './ledger.ts'
import type { TOKEN } from './money-schemas.ts'
import { need } from './outcome.ts'
import type { Fields } from './payloads.ts'
import { assetIn, type Place } from './place.ts'
import type { Value } from './ssz.ts'

type Token = Value<typeof TOKEN>

export const TOKEN_KIND = { plain: 0, stable: 1, bridged: 2 } as const

/** Most that may ever be minted of a token without a cap. */
export const SUPPLY_MAX = 2n ** 112n - 1n

const LOOKS: Readonly<Record<string, string>> = { '0': 'O', '1': 'I', '2': 'Z', '5': 'S', '8': 'B' }

export function skeletonId(symbol: string): string {
  return hex(utf8([...symbol].map((letter) => LOOKS[letter] ?? letter).join('')))
}

/** The token with a symbol. The native coin is not a token. */
export function tokenIn(place: Place, symbol: string): { readonly asset: string; readonly token: Token } {
  const asset = assetIn(place, symbol)
  const token = place.ledger.tokens.get(asset)
  need(token !== undefined, 'tokenUnknown')
  return { asset, token }
}

/** Fails if the token's minted total would exceed its cap. */
export function needRoom(ledger: Ledger, asset: string, amount: bigint): void {
  const { minted, cap } = ledger.supply.of(asset)
  need(minted + amount <= (cap === 0n ? SUPPLY_MAX : cap), 'maxSupply')
}

export function tokenCreate(place: Place, payload: Fields<'token_create'>): void {
  const { ledger, sender, height, rules } = place
  const { symbol, name, decimals, maxSupply, freezable } = payload
  const asset = assetIn(place, symbol)
  const known = ledger.skeletons.get(skeletonId(symbol))
  need(known?.asset !== asset, 'symbolTaken')
  need(known === undefined, 'lookAlike')
  ledger.take(sender, NATIVE, rules.token.createBurn)
  ledger.burn(rules.token.createBurn)
  const flags = { freezable, frozen: false, hidden: false }
  const kind = TOKEN_KIND.plain
  ledger.tokens.set(asset, { version: 1, name, decimals, kind, issuer: sender, ...flags, createdAt: height })
  ledger.supply.set(asset, { minted: 0n, burned: 0n, cap: maxSupply })
  ledger.skeletons.set(skeletonId(symbol), { asset })
}

export function tokenMint(place: Place, { symbol, to, amount, create }: Fields<'token_mint'>): void {
  const { ledger, sender } = place
  const { asset, token } = tokenIn(place, symbol)
  need(token.kind === TOKEN_KIND.plain, 'wrongKind')
  need(token.issuer === sender, 'notIssuer')
  need(!token.frozen, 'frozen')
  needRoom(ledger, asset, amount)
  ledger.mint(amount, asset)
  ledger.give(to, asset, amount, create)
}

export function tokenBurn(place: Place, { symbol, amount }: Fields<'token_burn'>): void {
  const { asset, token } = tokenIn(place, symbol)
  need(token.kind !== TOKEN_KIND.bridged, 'wrongKind')
  place.ledger.take(place.sender, asset, amount)
  place.ledger.burn(amount, asset)
}

export function tokenTransfer(place: Place, { symbol, to, amount, create }: Fields<'token_transfer'>): void {
  const { ledger, sender } = place
  const { asset, token } = tokenIn(place, symbol)
  need(!token.frozen, 'frozen')
  ledger.take(sender, asset, amount)
  ledger.give(to, asset, amount, create)
}

export function tokenFlags(place: Place, { symbol, frozen, hidden }: Fields<'token_flags'>): void {
  const { asset, token } = tokenIn(place, symbol)
  need(token.issuer === place.sender, 'notIssuer')
  need(!frozen || token.freezable, 'notFreezable')
  place.ledger.tokens.set(asset, { ...token, frozen, hidden })
}

export function tokenIssuer(place: Place, { symbol, issuer }: Fields<'token_issuer'>): void {
  const { ledger, sender } = place
  const { asset, token } = tokenIn(place, symbol)
  need(token.issuer === sender, 'notIssuer')
  if (issuer === ZERO32) need(!token.frozen, 'frozen')
  else need(ledger.accounts.get(issuer) !== undefined, 'noAccount')
  ledger.tokens.set(asset, { ...token, issuer })
}
