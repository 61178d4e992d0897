import type { BlockIndex, IndexEntry } from '../../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { keyAfter } from '../../consensus/chain/key-value.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import type { Receipt } from '../../consensus/ledger/receipt.ts'
import { copy, fromHex, writeHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { container, decodeOwn, encode, hex32, uint8, uint16 } from '../../consensus/primitives/codec.ts'
import type { Address, TxId } from '../../consensus/primitives/ids.ts'
import { PAYLOAD_FORMS } from '../../consensus/tx/json-forms.ts'
import { TX_KIND_NAMES, type TxKind } from '../../consensus/tx/kinds.ts'
import { OUTCOME_DELIVERED } from '../../consensus/tx/payloads.ts'
import type { Transaction, TxBody } from '../../consensus/tx/transaction.ts'
import { EscrowParties } from './escrow-parties.ts'

const EVENTS = ['transaction', 'delivered', 'failed', 'refunded', 'reward'] as const
const ROLES = ['sender', 'receiver', 'caller', 'payout', 'miner'] as const

/** A transaction was mined, an escrow closed in one of three ways, or a reward matured. */
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
  /** For an escrow's end, its payment; null for a reward. */
  readonly txId: TxId | null
  /** Outcome code of a transaction; 0 for all other events. */
  readonly code: number
  readonly roles: readonly HistoryRole[]
}

const ROLES_AT = 1
const RECORD = container('HistoryRecord', { event: uint8, roles: uint8, code: uint16, txId: hex32<TxId>() })

/**
 * address || 2^32 - 1 - height || 2^32 - 1 - position (big-endian) -> record. Newest first, so a cursor stays valid while
 * blocks come and go.
 */
export const HISTORY: BlockIndex = { name: 'history', prefix: 0x03, entriesOf }

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
  return receipts.flatMap((receipt): readonly Event[] => {
    if (receipt.type !== 'transaction') return automaticEvent(receipt)
    const tx = transactions.get(receipt.txId) as Transaction
    const mined = transactionEvent(tx, receipt.code)
    if (receipt.code !== OUTCOME_OK) return [mined]
    escrows.see(tx)
    return [mined, ...closings(tx.body, receipt.entries, escrows)]
  })
}

function automaticEvent(receipt: Receipt): readonly Event[] {
  if (receipt.type === 'reward')
    return [{ event: 'reward', txId: null, code: OUTCOME_OK, parties: [['miner', receipt.miner]] }]
  if (receipt.type === 'refund')
    return [{ event: 'refunded', txId: receipt.txId, code: OUTCOME_OK, parties: [['caller', receipt.caller]] }]
  return []
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
    const { caller, payout } = escrows.of(txId)
    const event = outcome === OUTCOME_DELIVERED ? 'delivered' : 'failed'
    return [
      {
        event,
        txId,
        code: OUTCOME_OK,
        parties: [
          ['caller', caller],
          ['payout', payout],
        ],
      },
    ]
  })
}

function filed({ event, txId, code, parties }: Event, cursor: HistoryCursor): readonly IndexEntry[] {
  const rolesBy = new Map<Address, number>()
  for (const [role, address] of parties) rolesBy.set(address, (rolesBy.get(address) ?? 0) | (1 << ROLES.indexOf(role)))
  const record = encode(RECORD, { event: EVENTS.indexOf(event), roles: 0, code, txId: txId ?? (ZERO_HEX_32 as TxId) })
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
  const { event, roles, code, txId } = decodeOwn(RECORD, value)
  return {
    height: LAST - view.getUint32(ADDRESS_BYTES),
    position: LAST - view.getUint32(ADDRESS_BYTES + 4),
    event: EVENTS[event] as HistoryEvent,
    txId: txId === ZERO_HEX_32 ? null : txId,
    code,
    roles: ROLES.filter((_, i) => (roles >> i) & 1),
  }
}
