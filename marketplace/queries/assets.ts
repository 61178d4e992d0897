import type { ChainReader } from '../../consensus/chain/reader.ts'
import { assetOf, symbolOf } from '../../consensus/ledger/asset.ts'
import type { CoinRules, TokenKind } from '../../consensus/ledger/rules.ts'
import { kindOfToken, TOKENS } from '../../consensus/ledger/token-records.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import { type Hash, TOKEN_SYMBOL, type TokenSymbol } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'

/** Names, decimals, kind and flags of an asset. */
export interface AssetFacts {
  readonly asset: Hash
  readonly symbol: TokenSymbol
  readonly name: string
  /** One whole unit is 10^decimals base units. */
  readonly decimals: number
  readonly kind: 'native' | TokenKind
  /** A frozen token cannot be transferred, minted or traded. */
  readonly frozen: boolean
  /** Whether the issuer hides it from listings. */
  readonly hidden: boolean
}

/** Rules of the native coin at the head. */
export function coinOf({ ruleBook, head }: ChainReader): CoinRules {
  return ruleBook.at(head.header.height).coin
}

/** An asset by its id; undefined if there is none. */
export function assetFacts(chain: ChainReader, asset: Hash): AssetFacts | undefined {
  const symbol = symbolOf(asset, coinOf(chain))
  if (asset === NATIVE_ASSET) {
    const { params } = chain.ruleBook
    const { decimals } = params
    return { asset, symbol, name: `Coin of ${params.name}`, decimals, kind: 'native', frozen: false, hidden: false }
  }
  const token = chain.database.get(TOKENS, asset)
  if (token === undefined) return undefined
  const { name, decimals, frozen, hidden } = token
  return { asset, symbol, name, decimals, kind: kindOfToken(token), frozen, hidden }
}

/** An asset by its symbol, the native coin included; undefined if there is none or the text is no symbol. */
export function assetNamed(chain: ChainReader, symbol: string): AssetFacts | undefined {
  return TOKEN_SYMBOL.test(symbol) ? assetFacts(chain, assetOf(symbol as TokenSymbol, coinOf(chain))) : undefined
}

/** An asset that a record names. It must exist, since tokens are never deleted. */
export function recordedAsset(chain: ChainReader, asset: Hash): AssetFacts {
  const facts = assetFacts(chain, asset)
  assert(facts !== undefined, `a record names the asset ${asset}, which is not there`)
  return facts
}
