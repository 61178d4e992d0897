import { fromHex, toHex } from '../primitives/bytes.ts'
import type { Hash, TokenSymbol } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'
import { NATIVE_ASSET } from '../state/table.ts'
import type { CoinRules } from './rules.ts'

const ASSET_HEX_CHARS = 64

/** Asset id of a token: the bytes of its symbol, padded with zeros to 32. The native coin's id is all zeros. */
export function tokenAsset(symbol: TokenSymbol): Hash {
  return toHex(encodeText(symbol)).padEnd(ASSET_HEX_CHARS, '0') as Hash
}

/** Asset id of a symbol, the native coin's included. */
export function assetOf(symbol: TokenSymbol, coin: Pick<CoinRules, 'symbol'>): Hash {
  return symbol === coin.symbol ? NATIVE_ASSET : tokenAsset(symbol)
}

/** Takes only an asset id that {@link assetOf} made. */
export function symbolOf(asset: Hash, coin: Pick<CoinRules, 'symbol'>): TokenSymbol {
  if (asset === NATIVE_ASSET) return coin.symbol
  const bytes = fromHex(asset)
  return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0))) as TokenSymbol
}
