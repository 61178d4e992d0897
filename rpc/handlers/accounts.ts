import type { ChainReader } from '../../consensus/chain/reader.ts'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { OUTCOME_OK, outcomeCode } from '../../consensus/ledger/outcome.ts'
import type { Address, BlockId, TxId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { payloadToJson } from '../../consensus/tx/json.ts'
import type { TxBody } from '../../consensus/tx/transaction.ts'
import { type HistoryEntry, historyOf } from '../../marketplace/ledger/history.ts'
import { type Holdings, holdingsOf, type Valued, type ValuedPosition } from '../../marketplace/queries/accounts.ts'
import type { PriceFacts } from '../../marketplace/queries/prices.ts'
import { scaledDown } from '../../marketplace/queries/ratio.ts'
import type { StakeFacts } from '../../marketplace/queries/staking.ts'
import type { EVENT, POSITION, STAKE, VALUED } from '../contract/accounts.ts'
import type { Static } from '../contract/schema.ts'
import { amountJson, assetAmountJson, priceJson, sharePct, usdText } from '../json/asset-json.ts'
import { addressText, moment } from '../json/chain-json.ts'
import { tabFactsJson } from '../json/tab-facts-json.ts'
import type { Handler } from '../server/answer.ts'
import { answerAtHead, badCursor, cursorNumbers, pageLimit } from '../server/at-head.ts'

const EVENTS_DEFAULT = 20

/** The cursor is a place on the chain, so new blocks do not shift it. */
export const getHistory: Handler<'getHistory'> = ({ chain }, { params, query }) => {
  const address = parseAddress(chain.ruleBook.params.addressPrefix, params.address)
  if (!address.ok) return address.fault
  const place = query.cursor === undefined ? undefined : cursorNumbers(query.cursor, 2)
  if (query.cursor !== undefined && place === undefined) return badCursor()
  const [height, position] = (place ?? []) as readonly number[]
  const before = height === undefined ? undefined : { height, position: position as number }
  const limit = pageLimit(query, EVENTS_DEFAULT)
  return answerAtHead(chain, async () => {
    const entries = await historyOf(chain.database, address.value, limit, before)
    const last = entries.length === limit ? (entries.at(-1) as HistoryEntry) : null
    return {
      address: params.address,
      indexedFrom: chain.database.indexedFrom,
      events: entries.map((entry) => eventJson(chain, entry)),
      nextCursor: last && `${last.height}-${last.position}`,
    }
  })
}

function eventJson(
  chain: ChainReader,
  { height, position, event, roles, txId, code, amount }: HistoryEntry,
): Static<typeof EVENT> {
  const { addressPrefix } = chain.ruleBook.params
  const body = txId === null ? undefined : minedBody(chain, txId)
  return {
    ...{ height, position, time: blockTime(chain, height), event, roles, txId },
    kind: body?.kind ?? null,
    sender: body === undefined ? null : addressText(addressPrefix, body.sender),
    payload: body === undefined ? null : payloadToJson(addressPrefix, body),
    success: code === OUTCOME_OK,
    outcome: outcomeCode(code) ?? null,
    amount: amount?.toString() ?? null,
  }
}

function minedBody({ database }: ChainReader, txId: TxId): TxBody | undefined {
  const location = database.location(txId)
  const blockId = location === undefined ? undefined : database.idAt(location.height)
  return location === undefined || blockId === undefined ? undefined : database.bodyAt(blockId, location.index)
}

function blockTime({ database, head }: ChainReader, height: number): string {
  const entry = database.entry(database.idAt(height) as BlockId)
  return moment((entry ?? head).header.timeMs)
}

/** What an address holds: coins, tokens, pool shares, stakes and open tabs, with their worth in dollars. */
export const getHoldings: Handler<'getHoldings'> = ({ chain }, { params }) => {
  const address = parseAddress(chain.ruleBook.params.addressPrefix, params.address)
  if (!address.ok) return address.fault
  return answerAtHead(chain, async () => ({
    address: params.address,
    ...holdingsJson(chain, await holdingsOf(chain, address.value as Address)),
  }))
}

function holdingsJson(chain: ChainReader, holdings: Holdings) {
  const {
    exists,
    nonce,
    native,
    tokens,
    positions,
    stakes,
    staked,
    pendingRewards,
    tabs,
    inTabs,
    unpriced,
    truncated,
  } = holdings
  return {
    exists,
    nonce: nonce.toString(),
    native: valuedJson(chain, native),
    tokens: tokens.map((token) => valuedJson(chain, token)),
    positions: positions.map(positionJson),
    stakes: stakes.map((stake) => stakeJson(chain, stake, staked.price)),
    staked: valuedJson(chain, staked),
    pendingRewards: valuedJson(chain, pendingRewards),
    tabs: tabs.map((tab) => tabFactsJson(chain, tab)),
    inTabs: valuedJson(chain, inTabs),
    totalUsd: usdText(holdings.totalUsdMicros),
    ...{ unpriced, truncated },
  }
}

function valuedJson(chain: ChainReader, { asset, amount, price, valueUsdMicros }: Valued): Static<typeof VALUED> {
  return { ...amountJson(asset, amount), price: priceJson(chain, asset, price), valueUsd: usdText(valueUsdMicros) }
}

function positionJson({ row, shares, x, y, valueUsdMicros }: ValuedPosition): Static<typeof POSITION> {
  return {
    poolId: row.poolId,
    pool: row.name,
    shares: shares.toString(),
    sharePct: sharePct(shares, row.pool.shares),
    x: amountJson(x.asset, x.amount),
    y: amountJson(y.asset, y.amount),
    valueUsd: usdText(valueUsdMicros),
  }
}

function stakeJson(
  chain: ChainReader,
  { stakeId, stake, pending, unlocked }: StakeFacts,
  price: PriceFacts | null,
): Static<typeof STAKE> {
  const value = price === null ? null : scaledDown(stake.amount + pending, price.microsPerUnit)
  const { tier, stakedAt, unlocksAt } = stake
  return {
    stakeId,
    tier,
    staked: assetAmountJson(chain, NATIVE_ASSET, stake.amount),
    pending: assetAmountJson(chain, NATIVE_ASSET, pending),
    ...{ stakedAt, unlocksAt, unlocked },
    valueUsd: usdText(value),
  }
}
