import type { BlockIndex, IndexEntry } from '../../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { keyAfter } from '../../consensus/chain/key-value.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import type { Receipt } from '../../consensus/ledger/receipt.ts'
import { type Amount, ZERO } from '../../consensus/primitives/amount.ts'
import { copy, fromHex, writeHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { container, decodeOwn, encode, hex32, uint8, uint16, uint128 } from '../../consensus/primitives/codec.ts'
import type { Address, TxId } from '../../consensus/primitives/ids.ts'
import { PAYLOAD_FORMS } from '../../consensus/tx/json-forms.ts'
import { TX_KIND_NAMES, type TxKind } from '../../consensus/tx/kinds.ts'
import { OUTCOME_DELIVERED } from '../../consensus/tx/payloads.ts'
import type { Transaction, TxBody } from '../../consensus/tx/transaction.ts'
import { EscrowParties } from './escrow-parties.ts'
import { TabFollower, type TabStep } from './tab-steps.ts'

const EVENTS = ['transaction', 'delivered', 'failed', 'refunded', 'reward', 'tab_claimed', 'tab_returned'] as const
const ROLES = ['sender', 'receiver', 'caller', 'payout', 'miner', 'payer'] as const

/**
 * A transaction was mined, an escrow closed in one of three ways, a reward matured, an agent claimed from a tab, or the
 * rest of a tab went back to its payer.
 */
export type HistoryEvent = (typeof EVENTS)[number]
/** The part of an address in an event. `receiver`: the transaction's payload names it. */
export type HistoryRole = (typeof ROLES)[number]

/** Events of a block are numbered in the order of its receipts. */
export interface HistoryCursor {
  readonly height: number
  readonly position: number
}

/** An event in the history of an address. */
export interface HistoryEntry extends HistoryCursor {
  readonly event: HistoryEvent
  /** For an escrow's end its payment, for a tab its opening; null for a reward. */
  readonly txId: TxId | null
  /** Outcome code of a transaction; 0 for all other events. */
  readonly code: number
  readonly roles: readonly HistoryRole[]
  /** Base units that an event moved, `tab_claimed` with what was burned. Null for a transaction. */
  readonly amount: Amount | null
}

const ROLES_AT = 1
const RECORD = container('HistoryRecord', {
  event: uint8,
  roles: uint8,
  code: uint16,
  txId: hex32<TxId>(),
  amount: uint128,
})

/**
 * address || 2^32 - 1 - height || 2^32 - 1 - position (big-endian) -> record. Newest first, so a cursor stays valid while
 * blocks come and go.
 */
export const HISTORY: BlockIndex = { name: 'history-2', prefix: 0x03, entriesOf }

/** The newest events of an address, before the event `before`. */
export function historyOf(
  database: DatabaseReader,
  address: Address,
  limit: number,
  before?: HistoryCursor,
): Promise<readonly HistoryEntry[]> {
  const from = before && keyAfter(eventKey(address, before))
  return database.indexPage(HISTORY, { prefix: fromHex(address), from, limit }, historyEntry)
}

/** The payload fields of each kind that hold an address. */
const ADDRESS_FIELDS: ReadonlyMap<TxKind, readonly string[]> = new Map(
  TX_KIND_NAMES.map((kind) => {
    const forms = Object.entries(PAYLOAD_FORMS[kind])
    return [kind, forms.filter(([, form]) => form === 'address').map(([field]) => field)]
  }),
)

interface Event {
  readonly event: HistoryEvent
  readonly txId: TxId | null
  readonly code: number
  readonly amount?: Amount
  readonly parties: readonly (readonly [HistoryRole, Address])[]
}

function entriesOf(connected: ConnectedBlock): readonly IndexEntry[] {
  const { height } = connected.block.header
  return eventsOf(connected).flatMap((event, position) => filed(event, { height, position }))
}

function eventsOf(connected: ConnectedBlock): readonly Event[] {
  const { block, receipts } = connected
  const transactions = new Map(block.transactions.map((tx) => [tx.txId, tx]))
  const escrows = new EscrowParties(connected)
  const tabs = new TabFollower(connected)
  return receipts.flatMap((receipt): readonly Event[] => {
    if (receipt.type === 'tab_return') return tabEvents(tabs.ended(receipt))
    if (receipt.type !== 'transaction') return automaticEvent(receipt)
    const tx = transactions.get(receipt.txId) as Transaction
    const mined = transactionEvent(tx, receipt.code)
    if (receipt.code !== OUTCOME_OK) return [mined]
    escrows.see(tx)
    const claims = tabs.see(tx, receipt.entries).flatMap(tabEvents)
    return [mined, ...closings(tx.body, receipt.entries, escrows), ...claims]
  })
}

function automaticEvent(receipt: Receipt): readonly Event[] {
  if (receipt.type === 'reward') {
    const { miner, amount } = receipt
    return [{ event: 'reward', txId: null, code: OUTCOME_OK, amount, parties: [['miner', miner]] }]
  }
  if (receipt.type === 'refund') {
    const { txId, caller, amount } = receipt
    return [{ event: 'refunded', txId, code: OUTCOME_OK, amount, parties: [['caller', caller]] }]
  }
  return []
}

/** Opening, top-up and close are transactions of the payer. */
function tabEvents(step: TabStep): readonly Event[] {
  const { tabId, tab } = step
  const about = { txId: tabId, code: OUTCOME_OK }
  const payer = ['payer', tab.payer] as const
  const rest = step.what === 'claimed' || step.what === 'returned' ? step.returned : null
  const returned: readonly Event[] =
    rest === null ? [] : [{ event: 'tab_returned', ...about, amount: rest, parties: [payer] }]
  if (step.what !== 'claimed') return returned
  const { charged } = step.split
  const parties = [payer, ['payout', tab.payout] as const]
  return [{ event: 'tab_claimed', ...about, amount: charged, parties }, ...returned]
}

function transactionEvent({ txId, body }: Transaction, code: number): Event {
  const fields = body.payload as Readonly<Record<string, unknown>>
  const named = (ADDRESS_FIELDS.get(body.kind) ?? []).map((field) => ['receiver', fields[field] as Address] as const)
  return { event: 'transaction', txId, code, parties: [['sender', body.sender], ...named] }
}

function closings({ kind, payload }: TxBody, outcomes: readonly number[], escrows: EscrowParties): readonly Event[] {
  if (kind !== 'agent_receipt') return []
  return payload.entries.flatMap(({ txId, outcome }, i): readonly Event[] => {
    if (outcomes[i] !== OUTCOME_OK) return []
    const { caller, payout, amount } = escrows.of(txId)
    const event = outcome === OUTCOME_DELIVERED ? 'delivered' : 'failed'
    return [
      {
        event,
        txId,
        code: OUTCOME_OK,
        amount,
        parties: [
          ['caller', caller],
          ['payout', payout],
        ],
      },
    ]
  })
}

function filed({ event, txId, code, amount = ZERO, parties }: Event, cursor: HistoryCursor): readonly IndexEntry[] {
  const rolesBy = new Map<Address, number>()
  for (const [role, address] of parties) rolesBy.set(address, (rolesBy.get(address) ?? 0) | (1 << ROLES.indexOf(role)))
  const id = txId ?? (ZERO_HEX_32 as TxId)
  const record = encode(RECORD, { event: EVENTS.indexOf(event), roles: 0, code, txId: id, amount })
  return [...rolesBy].map(([address, roles]) => ({ key: eventKey(address, cursor), value: withRoles(record, roles) }))
}

function withRoles(record: Uint8Array, roles: number): Uint8Array {
  const own = copy(record)
  own[ROLES_AT] = roles
  return own
}

const ADDRESS_BYTES = 32
const KEY_BYTES = ADDRESS_BYTES + 8
const LAST = 0xffff_ffff

function eventKey(address: Address, { height, position }: HistoryCursor): Uint8Array {
  const key = new Uint8Array(KEY_BYTES)
  writeHex(key, 0, address)
  writeUint32(key, ADDRESS_BYTES, LAST - height)
  writeUint32(key, ADDRESS_BYTES + 4, LAST - position)
  return key
}

/** Written by hand: creating a DataView would cost more than the rest of the key. */
function writeUint32(target: Uint8Array, at: number, value: number): void {
  for (let i = 0; i < 4; i++) target[at + i] = value >>> (24 - 8 * i)
}

function historyEntry({ key, value }: IndexEntry): HistoryEntry {
  const view = new DataView(key.buffer, key.byteOffset)
  const { event, roles, code, txId, amount } = decodeOwn(RECORD, value)
  const name = EVENTS[event] as HistoryEvent
  return {
    height: LAST - view.getUint32(ADDRESS_BYTES),
    position: LAST - view.getUint32(ADDRESS_BYTES + 4),
    event: name,
    txId: txId === ZERO_HEX_32 ? null : txId,
    code,
    roles: ROLES.filter((_, i) => (roles >> i) & 1),
    amount: name === 'transaction' ? null : amount,
  }
}
