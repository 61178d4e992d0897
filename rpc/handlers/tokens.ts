import { type Holding, topHolders } from '../../consensus/chain/holders.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { symbolOf } from '../../consensus/ledger/asset.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import { AMOUNT_MAX, type Amount, formatAmount } from '../../consensus/primitives/amount.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { type Address, type Hash, TOKEN_SYMBOL, type TokenSymbol } from '../../consensus/primitives/ids.ts'
import { coinOf } from '../../marketplace/queries/assets.ts'
import { poolsOf } from '../../marketplace/queries/pools.ts'
import { PriceBook } from '../../marketplace/queries/prices.ts'
import { type AssetRow, assetRow, listAssets } from '../../marketplace/queries/tokens.ts'
import type { Static } from '../contract/schema.ts'
import type { HOLDER } from '../contract/tokens.ts'
import { amountJson, sharePct, stableJson, tokenJson } from '../json/asset-json.ts'
import type { Handler, RequestOf } from '../server/answer.ts'
import { answerAtHead, badCursor, pageLimit } from '../server/at-head.ts'

const STABLES_MAX = 200
const POOLS_SHOWN = 10

/** The cursor is the last symbol, which stays valid, since tokens are never removed. */
export const listTokens: Handler<'listTokens'> = ({ chain }, { query }) => {
  const cursor = query.cursor
  if (cursor !== undefined && !TOKEN_SYMBOL.test(cursor)) return badCursor()
  return answerAtHead(chain, async () => {
    const { assets, next } = await listAssets(chain, { after: cursor as TokenSymbol, limit: pageLimit(query) })
    const prices = await Promise.all(assets.map(({ asset }) => PriceBook.of(chain).priceOf(asset)))
    return { tokens: assets.map((row, i) => tokenJson(chain, row, prices[i] ?? null)), nextCursor: next }
  })
}

/** One asset. */
export const getToken: Handler<'getToken'> = ({ chain }, { params }) =>
  answerAtHead(chain, async () => {
    const row = assetRow(chain, params.symbol)
    if (row === undefined) return unknownAsset(params.symbol)
    const pools = await poolsOf(chain, row.asset, POOLS_SHOWN)
    return {
      token: tokenJson(chain, row, await PriceBook.of(chain).priceOf(row.asset)),
      backing: stableJson(chain, row),
      pools: pools.map(({ poolId, name, pool }) => ({
        id: poolId,
        name,
        reserve: amountJson(row, pool.assetX === row.asset ? pool.reserveX : pool.reserveY),
      })),
    }
  })

/** From the largest to the smallest. The cursor is the last holder with its amount. */
export const listHolders: Handler<'listHolders'> = ({ chain }, request) => {
  const after = holdersCursor(request)
  if (after === null) return badCursor()
  const limit = pageLimit(request.query)
  return answerAtHead(chain, async () => {
    const row = assetRow(chain, request.params.symbol)
    if (row === undefined) return unknownAsset(request.params.symbol)
    const holders = await topHolders(chain.database, row.asset, limit, after)
    const last = holders.length === limit ? (holders.at(-1) as Holding) : null
    return {
      symbol: row.symbol,
      decimals: row.decimals,
      supply: row.supply.toString(),
      count: row.holders,
      holders: holders.map((holder) => holderJson(chain, row, holder)),
      nextCursor: last && `${last.amount}-${last.address}`,
    }
  })
}

function holderJson(
  chain: ChainReader,
  { decimals, supply }: AssetRow,
  { address, amount }: Holding,
): Static<typeof HOLDER> {
  return {
    address: formatAddress(chain.ruleBook.params.addressPrefix, address),
    units: amount.toString(),
    text: formatAmount(amount, decimals),
    sharePct: sharePct(amount, supply),
  }
}

/** The holder after which a page begins. Undefined on the first page, null for a bad cursor. */
function holdersCursor({ query }: RequestOf<'listHolders'>): Holding | null | undefined {
  if (query.cursor === undefined) return undefined
  const [, units = '', address = ''] = /^([1-9][0-9]{0,38})-([0-9a-f]{64})$/.exec(query.cursor) ?? []
  const amount = BigInt(units === '' ? 0 : units)
  if (amount === 0n || amount > AMOUNT_MAX) return null
  return { amount: amount as Amount, address: address as Address }
}

/** The stable tokens, at most {@link STABLES_MAX}. */
export const listStables: Handler<'listStables'> = ({ chain }) =>
  answerAtHead(chain, async () => {
    const symbols: TokenSymbol[] = []
    for await (const { key } of chain.database.stateRange(STABLE_RESERVES, '', STABLES_MAX)) {
      symbols.push(symbolOf(key.slice(2) as Hash, coinOf(chain)))
    }
    return { stables: symbols.flatMap((symbol) => stableJson(chain, assetRow(chain, symbol) as AssetRow) ?? []) }
  })

function unknownAsset(symbol: string): Fault {
  return fault('rpc/asset-not-found', { symbol })
}
