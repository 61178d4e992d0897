import type { BlockIndex, IndexEntry } from '../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../consensus/chain/events.ts'
import type { IndexRange } from '../consensus/chain/index-reads.ts'
import { assetOf } from '../consensus/ledger/asset.ts'
import { OUTCOME_OK } from '../consensus/ledger/outcome.ts'
import type { ReceiptOf } from '../consensus/ledger/receipt.ts'
import { type Amount, amount, ZERO } from '../consensus/primitives/amount.ts'
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
import type { PayloadOf, TxKind } from '../consensus/tx/kinds.ts'
import { POOLS, poolIdOf, poolOfKey } from './pool.ts'

const TRADE = container('Trade', {
  poolId: hex32<PoolId>(),
  txId: hex32<TxId>(),
  sender: hex32<Address>(),
  assetIn: hex32<Hash>(),
  assetOut: hex32<Hash>(),
  amountIn: uint128,
  amountOut: uint128,
  reserveIn: uint128,
  reserveOut: uint128,
  height: uint32,
  index: uint16,
  hop: uint8,
  timeMs: safeUint64,
})

/** One hop of a swap. The reserves are those before it. */
export type Trade = ValueOf<typeof TRADE>

/** Position of a trade on the best chain: height, index in the block, hop. */
export type TradePlace = Pick<Trade, 'height' | 'index' | 'hop'>

/**
 * The trades of a block, in order. Only swaps and liquidity changes move reserves, and only by the amounts in their
 * receipts, so each trade's reserves follow from the pools before the block.
 */
export function tradesOf(
  { block, receipts, changes }: Pick<ConnectedBlock, 'block' | 'receipts' | 'changes'>,
  symbol: TokenSymbol,
): readonly Trade[] {
  const outcomes = new Map<TxId, ReceiptOf<'transaction'>>()
  for (const receipt of receipts) if (receipt.type === 'transaction') outcomes.set(receipt.txId, receipt)
  const { height, timeMs } = block.header
  const reserves = new Reserves(changes)
  return block.transactions.flatMap(({ txId, body }, index) => {
    const outcome = outcomes.get(txId)
    if (outcome?.code !== OUTCOME_OK) return []
    const { amounts } = outcome
    if (body.kind === 'swap') {
      const { sender, payload } = body
      const place = { txId, sender, height, index, timeMs }
      return hopsOf(payload, amounts, symbol).map((hop) => ({ ...hop, ...reserves.trade(hop), ...place }))
    }
    const sign = LIQUIDITY_SIGNS[body.kind]
    if (sign !== undefined) reserves.move(body.payload as PoolPayload, sign, amounts, symbol)
    return []
  })
}

type PoolPayload = PayloadOf<'pool_create' | 'liquidity_add' | 'liquidity_remove'>

const LIQUIDITY_SIGNS: Partial<Record<TxKind, bigint>> = { pool_create: 1n, liquidity_add: 1n, liquidity_remove: -1n }

class Reserves {
  /** By pool and asset. */
  readonly #reserves = new Map<string, bigint>()

  constructor(changes: ConnectedBlock['changes']) {
    for (const { table, key, before } of changes) {
      if (table.prefix !== POOLS.prefix || before === undefined) continue
      const { assetX, assetY, reserveX, reserveY } = decodeOwn(POOLS.codec, before)
      const poolId = poolOfKey(key)
      this.#add(poolId, assetX, reserveX)
      this.#add(poolId, assetY, reserveY)
    }
  }

  trade({ poolId, assetIn, assetOut, amountIn, amountOut }: HopOutcome): Pick<Trade, 'reserveIn' | 'reserveOut'> {
    const met = { reserveIn: this.#of(poolId, assetIn), reserveOut: this.#of(poolId, assetOut) }
    this.#add(poolId, assetIn, amountIn)
    this.#add(poolId, assetOut, -amountOut)
    return met
  }

  move(
    name: PoolPayload,
    sign: bigint,
    [amountA = ZERO, amountB = ZERO]: readonly Amount[],
    symbol: TokenSymbol,
  ): void {
    const [a, b] = [assetOf(name.assetA, { symbol }), assetOf(name.assetB, { symbol })]
    const poolId = poolIdOf(a, b, name.feeBps)
    this.#add(poolId, a, sign * amountA)
    this.#add(poolId, b, sign * amountB)
  }

  #of(poolId: PoolId, asset: Hash): Amount {
    return amount(this.#reserves.get(poolId + asset) ?? 0n)
  }

  #add(poolId: PoolId, asset: Hash, moved: bigint): void {
    this.#reserves.set(poolId + asset, this.#of(poolId, asset) + moved)
  }
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

/** Keys of all trades begin with 0, keys of one pool's with 1 and its id. Both end with the position, newest first. */
const ALL = Uint8Array.of(0)
const BY_POOL = Uint8Array.of(1)

/** Index of the trades on the best chain, of all pools and by pool. */
export function tradeIndex(symbol: TokenSymbol): BlockIndex {
  return {
    name: 'trades-2',
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

/** Filter of a listing. */
export interface TradeQuery {
  readonly poolId?: PoolId | undefined
  /** Only trades before this position, exclusive. */
  readonly before?: TradePlace | undefined
  readonly limit: number
}

/** Index range, newest first. Entries of one pool hold no trade: see {@link placeOfEntry}. */
export function tradeRange({ poolId, before, limit }: TradeQuery): IndexRange {
  const prefix = poolId === undefined ? ALL : concat(BY_POOL, fromHex(poolId))
  const from = before === undefined ? undefined : concat(prefix, placeKey(before), Uint8Array.of(0))
  return { prefix, from, limit }
}

/** Key of the trade that an entry refers to. */
export function placeOfEntry({ key }: IndexEntry): Uint8Array {
  return concat(ALL, key.subarray(-PLACE_BYTES))
}

/** Decodes a trade. */
export function decodeTrade(value: Uint8Array): Trade {
  return decodeOwn(TRADE, value)
}
