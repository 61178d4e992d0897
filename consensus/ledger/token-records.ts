import { toHex, ZERO_HEX_32 } from '../primitives/bytes.ts'
import { bool, container, hex32, text, uint8, uint32, type ValueOf } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, Hash, TokenSymbol } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'
import { NATIVE_ASSET, stateTable } from '../state/table.ts'
import type { StateView } from '../state/view.ts'
import { TOKEN_NAME_BYTES_MAX } from '../tx/asset-payloads.ts'
import { assetOf, tokenAsset } from './asset.ts'
import type { CoinRules, TokenKind } from './rules.ts'

/** Kinds of tokens. The place in the list is the number in records. */
export const TOKEN_KINDS = ['plain', 'stable', 'bridged'] as const satisfies readonly TokenKind[]

/** Stands for no issuer: no account can mint such a token by `token_mint` or `stable_mint`, or change it. */
export const NO_ISSUER = ZERO_HEX_32 as Address

const TOKEN_RECORD = container('Token', {
  version: uint8,
  name: text(TOKEN_NAME_BYTES_MAX),
  decimals: uint8,
  kind: uint8,
  issuer: hex32<Address>(),
  freezable: bool,
  frozen: bool,
  hidden: bool,
  createdAt: uint32,
})

/** A token. Its key has the symbol, its supply record the supply. */
export type Token = ValueOf<typeof TOKEN_RECORD>

/** Tokens by asset. Never deleted, so that a symbol never changes its meaning. */
export const TOKENS = stateTable<Hash, Token>({
  name: 'tokens',
  prefix: 0x10,
  codec: TOKEN_RECORD,
  id: (asset) => asset,
})

const SKELETON_RECORD = container('SymbolSkeleton', { asset: hex32<Hash>() })

/** A symbol with look-alike characters made equal: see {@link skeletonOf}. */
export type SymbolSkeleton = string & { readonly __symbolSkeleton: unique symbol }

/** The one asset of each skeleton, the native coin's included. */
export const SYMBOLS = stateTable<SymbolSkeleton, ValueOf<typeof SKELETON_RECORD>>({
  name: 'symbols',
  prefix: 0x11,
  codec: SKELETON_RECORD,
  id: (skeleton) => toHex(encodeText(skeleton)),
})

const LOOK_ALIKES: Readonly<Record<string, string>> = { '0': 'O', '1': 'I', '2': 'Z', '5': 'S', '8': 'B' }

/** Two symbols with one skeleton look alike. */
export function skeletonOf(symbol: TokenSymbol): SymbolSkeleton {
  return symbol.replace(/[01258]/g, (digit) => LOOK_ALIKES[digit] as string) as SymbolSkeleton
}

/** Kind of a token as text. */
export function kindOfToken({ kind }: Pick<Token, 'kind'>): TokenKind {
  return TOKEN_KINDS[kind] as TokenKind
}

/** A token with its symbol and its asset id. */
export interface NamedToken {
  readonly symbol: TokenSymbol
  readonly asset: Hash
  readonly token: Token
}

/** The native coin is not a token. */
export function tokenOf(view: StateView, symbol: TokenSymbol): NamedToken | Fault {
  const asset = tokenAsset(symbol)
  const token = view.get(TOKENS, asset)
  return token === undefined ? fault('token/unknown', { symbol }) : { symbol, asset, token }
}

/** An asset that a payload may name. */
export interface KnownAsset {
  readonly asset: Hash
}

/** The native coin or an existing token, frozen or not. */
export function knownAsset(view: StateView, symbol: TokenSymbol, coin: Pick<CoinRules, 'symbol'>): KnownAsset | Fault {
  const asset = assetOf(symbol, coin)
  if (asset === NATIVE_ASSET) return { asset }
  const named = tokenOf(view, symbol)
  return 'code' in named ? named : { asset }
}

/** The asset of a symbol if it can be traded: {@link knownAsset}, or `token/frozen`. */
export function usableAsset(view: StateView, symbol: TokenSymbol, coin: Pick<CoinRules, 'symbol'>): KnownAsset | Fault {
  const known = knownAsset(view, symbol, coin)
  if ('code' in known || known.asset === NATIVE_ASSET) return known
  return view.get(TOKENS, known.asset)?.frozen === true ? fault('token/frozen', { symbol }) : known
}
