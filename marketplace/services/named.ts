import type { ChainReader } from '../../consensus/chain/reader.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { TOKEN_SYMBOL } from '../../consensus/primitives/ids.ts'
import { meantName } from '../../consensus/primitives/likeness.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { type AssetFacts, assetNamed, coinOf } from '../queries/assets.ts'
import { bridgeNetworks } from '../queries/collateral.ts'
import { POOL_NAME, type PoolRow, poolNamed } from '../queries/pools.ts'
import { isBlank, type RequestForm, refusal, unusable } from './requests.ts'

/** Maximum length of a token or pool name, with spaces around it. */
export const NAME_CHARS_MAX = 100

/** Reads the name of a token or pool: names in upper case, ids in lower case; null for an empty text. */
export function parseTokenOrPool(request: string, form: RequestForm): Result<string | null> {
  const text = request.trim()
  if (isBlank(text)) return ok(null)
  const id = text.toLowerCase().replace(/^0x/, '')
  if (isHex(id, 32)) return ok(id)
  const name = text.toUpperCase()
  return TOKEN_SYMBOL.test(name) || POOL_NAME.test(name) ? ok(name) : unusable('not a token symbol or pool', form)
}

/** What a name stands for: one token, or a pool with its two assets. */
export interface Named {
  readonly pool: PoolRow | null
  readonly assets: readonly AssetFacts[]
}

/** Takes a name in upper case, or a pool id in lower case; undefined if there is none. */
export function namedOn(chain: ChainReader, name: string): Named | undefined {
  const asset = assetNamed(chain, name)
  if (asset !== undefined) return { pool: null, assets: [asset] }
  const pool = poolNamed(chain, name)
  return pool && { pool, assets: [pool.x, pool.y] }
}

/** The refusal of an unknown symbol, with a hint: other chains use other names for the same assets. */
export function noToken(chain: ChainReader, symbol: string, form: RequestForm, what = 'token'): Fault {
  const coin = coinOf(chain).symbol as string
  const symbols = [coin, ...new Set(bridgeNetworks(chain).map(({ rules }) => rules.asset as string))]
  const meant = meantName(symbol, symbols)
  const hint = meant === undefined ? `there are ${symbols.join(', ')} and more` : `did you mean ${meant}?`
  return refusal(`there is no ${what} ${symbol}; ${hint}`, form)
}

/** The refusal of a name that this chain does not have, or null. */
export function nameFault(chain: ChainReader, name: string | null, form: RequestForm): Fault | null {
  return name === null || namedOn(chain, name) !== undefined ? null : noToken(chain, name, form, 'token or pool')
}
