import type { BlockIndex, IndexEntry } from '../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../consensus/chain/events.ts'
import type { IndexRange } from '../consensus/chain/index-reads.ts'
import { assetOf } from '../consensus/ledger/asset.ts'
import { OUTCOME_OK } from '../consensus/ledger/outcome.ts'
import type { ReceiptOf } from '../consensus/ledger/receipt.ts'
import type { Amount } from '../consensus/primitives/amount.ts'
import { concat, fromHex, uintBE } from '../consensus/primitives/bytes.ts'
import {
  container,
  decodeOwn,
  encode,
  hex32,
  safeUint64,
  uint8,
  uint16,
  uint32,
  uint128,
  type ValueOf,
} from '../consensus/primitives/codec.ts'
import type { Address, Hash, PoolId, TokenSymbol, TxId } from '../consensus/primitives/ids.ts'
import type { PayloadOf } from '../consensus/tx/kinds.ts'
import { poolIdOf } from './pool.ts'

const TRADE = container('Trade', {
  poolId: hex32<PoolId>(),
  txId: hex32<TxId>(),
  sender: hex32<Address>(),
  assetIn: hex32<Hash>(),
  assetOut: hex32<Hash>(),
  amountIn: uint128,
  amountOut: uint128,
  height: uint32,
  index: uint16,
  hop: uint8,
  timeMs: safeUint64,
})

/** What a swap did in one pool: every hop is a trade of its own. */
export type Trade = ValueOf<typeof TRADE>

/** Place of a trade on the best chain: height, index in the block, hop. */
export type TradePlace = Pick<Trade, 'height' | 'index' | 'hop'>

/** The trades of a block in order, from its swaps and the amounts that their receipts tell. */
export function tradesOf(
  { block, receipts }: Pick<ConnectedBlock, 'block' | 'receipts'>,
  symbol: TokenSymbol,
): readonly Trade[] {
  const outcomes = new Map<TxId, ReceiptOf<'transaction'>>()
  for (const receipt of receipts) if (receipt.type === 'transaction') outcomes.set(receipt.txId, receipt)
  const { height, timeMs } = block.header
  return block.transactions.flatMap(({ txId, body }, index) => {
    const outcome = outcomes.get(txId)
    if (body.kind !== 'swap' || outcome?.code !== OUTCOME_OK) return []
    const { sender, payload } = body
    return hopsOf(payload, outcome.amounts, symbol).map((hop) => ({ ...hop, txId, sender, height, index, timeMs }))
  })
}

type HopOutcome = Pick<Trade, 'poolId' | 'assetIn' | 'assetOut' | 'amountIn' | 'amountOut' | 'hop'>

function hopsOf(
  { assetIn, hops }: PayloadOf<'swap'>,
  amounts: readonly Amount[],
  symbol: TokenSymbol,
): readonly HopOutcome[] {
  const assets = [assetIn, ...hops.map(({ asset }) => asset)].map((asset) => assetOf(asset, { symbol }))
  return hops.map(({ feeBps }, hop) => {
    const [from, to] = [assets[hop] as Hash, assets[hop + 1] as Hash]
    return {
      poolId: poolIdOf(from, to, feeBps),
      assetIn: from,
      assetOut: to,
      amountIn: amounts[hop] as Amount,
      amountOut: amounts[hop + 1] as Amount,
      hop,
    }
  })
}

/** Keys of all trades begin with 0, those of one pool with 1 and its id; both end with the place, newest first. */
const ALL = Uint8Array.of(0)
const BY_POOL = Uint8Array.of(1)

/** Trades of the best chain, all and by pool. `symbol` is that of the native coin. */
export function tradeIndex(symbol: TokenSymbol): BlockIndex {
  return {
    name: 'trades',
    prefix: 0x04,
    entriesOf: (connected) => tradesOf(connected, symbol).flatMap(entriesOfTrade),
  }
}

function entriesOfTrade(trade: Trade): readonly IndexEntry[] {
  const place = placeKey(trade)
  return [
    { key: concat(ALL, place), value: encode(TRADE, trade) },
    { key: concat(BY_POOL, fromHex(trade.poolId), place), value: new Uint8Array(0) },
  ]
}

const HEIGHT_MAX = 0xffff_ffff
const INDEX_MAX = 0xffff
const HOP_MAX = 0xff

/** Later places sort first. */
function placeKey({ height, index, hop }: TradePlace): Uint8Array {
  return concat(
    uintBE(BigInt(HEIGHT_MAX - height), 4),
    uintBE(BigInt(INDEX_MAX - index), 2),
    Uint8Array.of(HOP_MAX - hop),
  )
}

const PLACE_BYTES = 7

/** Which trades are listed. */
export interface TradeQuery {
  /** Only those of one pool. */
  readonly poolId?: PoolId | undefined
  /** Only those before this place, exclusive. */
  readonly before?: TradePlace | undefined
  readonly limit: number
}

/** What to read of the index for a listing, newest first. Entries of one pool name places, see {@link placeOfEntry}. */
export function tradeRange({ poolId, before, limit }: TradeQuery): IndexRange {
  const prefix = poolId === undefined ? ALL : concat(BY_POOL, fromHex(poolId))
  const from = before === undefined ? undefined : concat(prefix, placeKey(before), Uint8Array.of(0))
  return { prefix, from, limit }
}

/** Key of the trade that an entry of any listing names. */
export function placeOfEntry({ key }: IndexEntry): Uint8Array {
  return concat(ALL, key.subarray(-PLACE_BYTES))
}

/** Reads a trade. */
export function decodeTrade(value: Uint8Array): Trade {
  return decodeOwn(TRADE, value)
}
