import type { ChainReader } from '../../consensus/chain/reader.ts'
import { symbolOf } from '../../consensus/ledger/asset.ts'
import { TOKENS } from '../../consensus/ledger/token-records.ts'
import type { Hash, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { coinOf, recordedAsset } from './assets.ts'
import { nameSkeleton } from './name-skeleton.ts'

/** Maximum tokens whose names are compared, in the order of their symbols, and maximum look-alikes in a result. */
export const NAMES_COMPARED_MAX = 10_000
const FOUND_MAX = 20

/** Assets whose names could be mistaken for a given name. */
export interface NameLookAlikes {
  readonly found: readonly { readonly symbol: TokenSymbol; readonly name: string }[]
  /** Counts the native coin and the excepted asset, too. `complete` is false if a maximum was reached. */
  readonly compared: number
  readonly complete: boolean
}

/** Compares a name with the names of all assets other than `except`, and with the native coin's symbol and network. */
export async function nameLookAlikes(chain: ChainReader, name: string, except?: Hash): Promise<NameLookAlikes> {
  const wanted = nameSkeleton(name)
  // A name without letters and digits has no skeleton to compare.
  if (wanted === '') return { found: [], compared: 0, complete: true }
  const coin = coinOf(chain)
  const { asset, symbol, name: coinName } = recordedAsset(chain, NATIVE_ASSET)
  const names = asset === except ? [] : [coinName, chain.ruleBook.params.name, symbol]
  const found = names.some((each) => nameSkeleton(each) === wanted) ? [{ symbol, name: coinName }] : []
  let compared = 1
  for await (const { key, value } of chain.database.stateRange(TOKENS, '', NAMES_COMPARED_MAX)) {
    compared += 1
    const token = key.slice(2) as Hash
    if (token === except || nameSkeleton(value.name) !== wanted) continue
    if (found.length === FOUND_MAX) return { found, compared, complete: false }
    found.push({ symbol: symbolOf(token, coin), name: value.name })
  }
  return { found, compared, complete: compared <= NAMES_COMPARED_MAX }
}
