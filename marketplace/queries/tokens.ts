import { holderCount } from '../../consensus/chain/holders.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { symbolOf, tokenAsset } from '../../consensus/ledger/asset.ts'
import { type StableFacts, stableFacts } from '../../consensus/ledger/stable-facts.ts'
import { headroomOf, supplyOf, supplyRecord } from '../../consensus/ledger/supply.ts'
import { NOBODY, TOKENS } from '../../consensus/ledger/token-records.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Address, Hash, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { type AssetFacts, assetNamed, coinOf, recordedAsset } from './assets.ts'

/** Everything that the chain says of one asset; the native coin is written like a token that nobody issues. */
export interface AssetRow extends AssetFacts {
  /** Null where nobody may mint or change it: the native coin, bridged tokens, tokens that were renounced. */
  readonly issuer: Address | null
  readonly freezable: boolean
  /** Height of its creation, 0 for what is there from the start. */
  readonly createdAt: number
  readonly minted: Amount
  readonly burned: Amount
  /** minted - burned: all that exists, wherever it is held. */
  readonly supply: Amount
  /** Most that may ever be minted, null without a limit of its own. */
  readonly maxSupply: Amount | null
  /** What may still be minted. */
  readonly headroom: Amount
  /** Addresses that hold some; what pools, stakes and escrows hold has no address. */
  readonly holders: number
  /** How a stable token is backed; null for any other asset. */
  readonly backing: StableFacts | null
}

/** One asset by its symbol. */
export function assetRow(chain: ChainReader, symbol: string): AssetRow | undefined {
  const facts = assetNamed(chain, symbol)
  return facts === undefined ? undefined : rowOf(chain, facts)
}

/** One asset by its id, which a record names. */
export function recordedRow(chain: ChainReader, asset: Hash): AssetRow {
  return rowOf(chain, recordedAsset(chain, asset))
}

function rowOf({ database }: ChainReader, facts: AssetFacts): AssetRow {
  const { asset, kind, symbol } = facts
  const token = kind === 'native' ? undefined : database.get(TOKENS, asset)
  const books = supplyRecord(database, asset)
  return {
    ...facts,
    issuer: token === undefined || token.issuer === NOBODY ? null : token.issuer,
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

/** A page of assets; `next` is the symbol that the next page begins after, null on the last. */
export interface AssetPage {
  readonly assets: readonly AssetRow[]
  readonly next: TokenSymbol | null
}

/** Which assets are listed: those after a symbol, hidden ones only where `hidden` says so. */
export interface AssetQuery {
  readonly after?: TokenSymbol | undefined
  readonly limit: number
  readonly hidden?: boolean
}

/**
 * Assets in the order of their symbols, the native coin before them all. Tokens never go, so a page begins where the last
 * one ended whatever was mined meanwhile. Hidden ones are passed over, so a page may be shorter than its limit.
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
