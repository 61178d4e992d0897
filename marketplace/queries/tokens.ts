import { holderCount } from '../../consensus/chain/holders.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { symbolOf, tokenAsset } from '../../consensus/ledger/asset.ts'
import { type StableFacts, stableFacts } from '../../consensus/ledger/stable-facts.ts'
import { headroomOf, supplyOf, supplyRecord } from '../../consensus/ledger/supply.ts'
import { NO_ISSUER, TOKENS } from '../../consensus/ledger/token-records.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Address, Hash, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { type AssetFacts, assetNamed, coinOf, recordedAsset } from './assets.ts'

/** Everything that the chain records about an asset; the native coin appears as a token without an issuer. */
export interface AssetRow extends AssetFacts {
  /** Null if minting and changes are impossible for any account: the native coin, bridged tokens, renounced tokens. */
  readonly issuer: Address | null
  readonly freezable: boolean
  /** Height of its creation; 0 if it exists since genesis. */
  readonly createdAt: number
  readonly minted: Amount
  readonly burned: Amount
  /** minted - burned: all existing units, wherever they are held. */
  readonly supply: Amount
  /** Maximum that may ever be minted; null without a limit of its own. */
  readonly maxSupply: Amount | null
  readonly headroom: Amount
  /** Number of addresses that hold it; pools, stakes and escrows have no address. */
  readonly holders: number
  /** Backing of a stable token; null for any other asset. */
  readonly backing: StableFacts | null
}

/** An asset by its symbol, the native coin included; undefined if there is none. */
export function assetRow(chain: ChainReader, symbol: string): AssetRow | undefined {
  const facts = assetNamed(chain, symbol)
  return facts === undefined ? undefined : rowOf(chain, facts)
}

/** An asset by an id from a record. */
export function recordedRow(chain: ChainReader, asset: Hash): AssetRow {
  return rowOf(chain, recordedAsset(chain, asset))
}

function rowOf({ database }: ChainReader, facts: AssetFacts): AssetRow {
  const { asset, kind, symbol } = facts
  const token = kind === 'native' ? undefined : database.get(TOKENS, asset)
  const books = supplyRecord(database, asset)
  return {
    ...facts,
    issuer: token === undefined || token.issuer === NO_ISSUER ? null : token.issuer,
    freezable: token?.freezable ?? false,
    createdAt: token?.createdAt ?? 0,
    minted: books.minted,
    burned: books.burned,
    supply: supplyOf(database, asset),
    maxSupply: books.cap === 0n ? null : books.cap,
    headroom: headroomOf(books),
    holders: holderCount(database, asset),
    backing: kind === 'stable' ? (stableFacts(database, symbol) ?? null) : null,
  }
}

/** A page of assets; `next` is the `after` of the next page, or null if fewer assets than the limit were left to read. */
export interface AssetPage {
  readonly assets: readonly AssetRow[]
  readonly next: TokenSymbol | null
}

/** Filter of a listing: symbols after `after`; hidden assets only if `hidden` is set. */
export interface AssetQuery {
  readonly after?: TokenSymbol | undefined
  readonly limit: number
  readonly hidden?: boolean
}

/**
 * Ordered by symbol, the native coin first. Tokens are never deleted, so new blocks do not disturb paging. Skipped
 * hidden assets make a page shorter than its limit.
 */
export async function listAssets(chain: ChainReader, { after, limit, hidden = false }: AssetQuery): Promise<AssetPage> {
  const coin = coinOf(chain)
  const first = after === undefined ? [coin.symbol] : []
  const behind = after === undefined || after === coin.symbol ? undefined : TOKENS.key(tokenAsset(after))
  const symbols = [...first]
  const rows = limit > first.length ? chain.database.stateRange(TOKENS, '', limit - first.length, behind) : []
  for await (const { key } of rows) symbols.push(symbolOf(key.slice(2) as Hash, coin))
  const all = symbols.flatMap((symbol) => assetRow(chain, symbol) ?? [])
  return {
    assets: all.filter((row) => hidden || !row.hidden),
    next: symbols.length === limit ? (symbols.at(-1) as TokenSymbol) : null,
  }
}
