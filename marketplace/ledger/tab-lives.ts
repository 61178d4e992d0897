import type { BlockIndex, FoldedIndex, IndexEntry, IndexRead, IndexWrite } from '../../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { keyAfter } from '../../consensus/chain/key-value.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import { add, ZERO } from '../../consensus/primitives/amount.ts'
import { concat, fromHex, uintBE, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import {
  bool,
  container,
  decodeOwn,
  encode,
  hex32,
  safeUint64,
  uint8,
  uint32,
  uint128,
  type ValueOf,
} from '../../consensus/primitives/codec.ts'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import { TAB_RECORD } from './tab-records.ts'
import { type ClaimStep, type TabStep, tabStepsOf } from './tab-steps.ts'

const ENDS = ['open', 'claim', 'return'] as const

const LIFE = container('TabLife', {
  tab: TAB_RECORD,
  opening: uint128,
  calls: safeUint64,
  failed: safeUint64,
  burned: uint128,
  claims: uint32,
  end: uint8,
  endedAt: uint32,
  endTxId: hex32<TxId>(),
  returned: uint128,
})

/** How a tab ended: by the claim `txId` that closed it, or at its due height, when consensus returned the rest. */
export interface TabEnd {
  readonly how: 'claim' | 'return'
  readonly height: number
  /** Null if consensus returned the rest. */
  readonly txId: TxId | null
  readonly returned: bigint
}

/**
 * A tab from its opening on, also when it has ended. `tab` is its last record, `opening` its first deposit. `calls` are
 * the delivered calls that count as proven, `failed` is the seller's word, `burned` is the part of `tab.claimed` that was
 * burned.
 */
export interface TabLife extends Omit<ValueOf<typeof LIFE>, 'end' | 'endedAt' | 'endTxId' | 'returned'> {
  /** Null while it is open. */
  readonly end: TabEnd | null
}

/** By tab id. On a node that began after the opening, the sums begin where it did. */
export const TAB_LIVES: FoldedIndex = { name: 'tab-lives', prefix: 0x0a, fold }

/** The life of a tab; undefined if this node knows of none. */
export function tabLife(database: DatabaseReader, tabId: TxId): TabLife | undefined {
  const bytes = database.indexed(TAB_LIVES, fromHex(tabId))
  if (bytes === undefined) return undefined
  const { end, endedAt, endTxId, returned, ...life } = decodeOwn(LIFE, bytes)
  const how = ENDS[end] as (typeof ENDS)[number]
  if (how === 'open') return { ...life, end: null }
  return { ...life, end: { how, height: endedAt, txId: how === 'claim' ? endTxId : null, returned } }
}

function fold(connected: ConnectedBlock, read: IndexRead): readonly IndexWrite[] {
  const { height } = connected.block.header
  const lives = new Map<TxId, ValueOf<typeof LIFE>>()
  for (const step of tabStepsOf(connected)) {
    const known = lives.get(step.tabId) ?? stored(step, read)
    lives.set(step.tabId, { ...known, ...grown(known, step, height), tab: step.tab })
  }
  return [...lives].map(([tabId, life]) => ({ key: fromHex(tabId), value: encode(LIFE, life) }))
}

function stored({ tabId, tab }: TabStep, read: IndexRead): ValueOf<typeof LIFE> {
  const bytes = read(fromHex(tabId))
  if (bytes !== undefined) return decodeOwn(LIFE, bytes)
  const none = { calls: 0, failed: 0, burned: ZERO, claims: 0, returned: ZERO }
  return { tab, opening: tab.deposit, ...none, end: 0, endedAt: 0, endTxId: ZERO_HEX_32 as TxId }
}

function grown(known: ValueOf<typeof LIFE>, step: TabStep, height: number): Partial<ValueOf<typeof LIFE>> {
  if (step.what === 'returned') return { end: ENDS.indexOf('return'), endedAt: height, returned: step.returned }
  if (step.what !== 'claimed') return {}
  const { split, claim, txId, returned } = step
  const sums = {
    calls: known.calls + split.counted.reduce((sum, { calls }) => sum + calls, 0),
    failed: known.failed + claim.failed,
    burned: add(known.burned, split.burned),
    claims: known.claims + 1,
  }
  return returned === null ? sums : { ...sums, end: ENDS.indexOf('claim'), endedAt: height, endTxId: txId, returned }
}

const CLAIM_RECORD = container('TabClaimRecord', {
  txId: hex32<TxId>(),
  root: hex32<Hash>(),
  receipts: uint32,
  failed: uint32,
  claimed: uint128,
  charged: uint128,
  burned: uint128,
  closed: bool,
  returned: uint128,
})

/** Place of a claim in the chain: `index` is that of its transaction in the block, `entry` its number in the transaction. */
export interface TabClaimPlace {
  readonly height: number
  readonly index: number
  readonly entry: number
}

/**
 * A mined claim of one tab. `root` commits to its receipts; `receipts` and `claimed` are the totals after it, `failed`,
 * `charged` and `burned` its own part.
 */
export interface TabClaim extends TabClaimPlace, ValueOf<typeof CLAIM_RECORD> {}

/** Tab id || height || index of the transaction || entry (big-endian) -> record: the claims of a tab in order. */
export const TAB_CLAIMS: BlockIndex = { name: 'tab-claims', prefix: 0x0b, entriesOf }

const ID_BYTES = 32
const PLACE_BYTES = 4

/** The claims of a tab, oldest first, after the claim `after`. */
export function tabClaims(
  database: DatabaseReader,
  tabId: TxId,
  { limit, after }: { readonly limit: number; readonly after?: TabClaimPlace | undefined },
): Promise<readonly TabClaim[]> {
  const from = after && keyAfter(claimKey(tabId, after))
  return database.indexPage(TAB_CLAIMS, { prefix: fromHex(tabId), from, limit }, ({ key, value }) => {
    const view = new DataView(key.buffer, key.byteOffset)
    const numberAt = (i: number): number => view.getUint32(ID_BYTES + i * PLACE_BYTES)
    const [height, index, entry] = [numberAt(0), numberAt(1), numberAt(2)]
    return { height, index, entry, ...decodeOwn(CLAIM_RECORD, value) }
  })
}

/** The claim at a place; undefined if this node knows of none. */
export function tabClaimAt(database: DatabaseReader, tabId: TxId, place: TabClaimPlace): TabClaim | undefined {
  const bytes = database.indexed(TAB_CLAIMS, claimKey(tabId, place))
  return bytes === undefined ? undefined : { ...place, ...decodeOwn(CLAIM_RECORD, bytes) }
}

function entriesOf(connected: ConnectedBlock): readonly IndexEntry[] {
  const { header, transactions } = connected.block
  const { height } = header
  const claims = tabStepsOf(connected).filter((step) => step.what === 'claimed')
  return claims.map((step) => {
    const index = transactions.findIndex(({ txId }) => txId === step.txId)
    return { key: claimKey(step.tabId, { height, index, entry: step.entry }), value: claimRecord(step) }
  })
}

function claimRecord({ txId, claim, split, returned }: ClaimStep): Uint8Array {
  const { root, receipts, failed, claimed, close: closed } = claim
  const { charged, burned } = split
  const own = { txId, root, receipts, failed, claimed, charged, burned, closed }
  return encode(CLAIM_RECORD, { ...own, returned: returned ?? ZERO })
}

function claimKey(tabId: TxId, { height, index, entry }: TabClaimPlace): Uint8Array {
  return concat(fromHex(tabId), ...[height, index, entry].map((number) => uintBE(BigInt(number), PLACE_BYTES)))
}
