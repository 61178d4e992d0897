import { type Amount, amount, formatAmount, ZERO } from '../primitives/amount.ts'
import { bool, container, hex32, list, safeUint64, uint8, uint32, uint128, type ValueOf } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, Hash, TxId } from '../primitives/ids.ts'
import type { Overlay } from '../state/overlay.ts'
import { noKey, stateTable } from '../state/table.ts'
import type { StateView } from '../state/view.ts'
import {
  COMMITTEE_KEYS,
  externalAddress,
  externalTxId,
  NETWORK_NUMBERS,
  NETWORK_VAULTS,
} from '../tx/bridge-payloads.ts'
import { tokenAsset } from './asset.ts'
import type { BridgeNetwork, BridgeRules } from './rules.ts'
import { headroomOf, supplyRecord } from './supply.ts'
import { beyondMaximum } from './token-checks.ts'
import { TOKENS } from './token-records.ts'

const ROTATION_RECORD = container('PendingRotation', {
  effectiveAt: uint32,
  threshold: uint8,
  keys: COMMITTEE_KEYS,
  vaults: NETWORK_VAULTS,
  resume: NETWORK_NUMBERS,
})

const COMMITTEE_RECORD = container('Committee', {
  epoch: uint32,
  threshold: uint8,
  keys: COMMITTEE_KEYS,
  rotation: list(ROTATION_RECORD, 1),
})

/** `rotation` holds the pending rotation, if any. */
export type Committee = ValueOf<typeof COMMITTEE_RECORD>

/** Absent if genesis named no committee. */
export const COMMITTEE = stateTable<void, Committee>({
  name: 'committee',
  prefix: 0x40,
  codec: COMMITTEE_RECORD,
  id: noKey,
})

const NETWORK_RECORD = container('BridgeNetwork', {
  version: uint8,
  asset: hex32<Hash>(),
  vault: externalAddress,
  halted: bool,
  deposited: uint128,
  released: uint128,
  fees: uint128,
  pending: uint128,
  mintDay: uint32,
  mintedToday: uint128,
  deposits: safeUint64,
  withdrawals: safeUint64,
})

/**
 * What crossed to and from one chain, in base units of its wrapped token. `released`: paid to recipients. `fees`: kept
 * back from these payments. `pending`: burned here, not released yet. `mintedToday`: valid only on day `mintDay`.
 */
export type NetworkRecord = ValueOf<typeof NETWORK_RECORD>

/** A network has no record before it has a vault. */
export const BRIDGE_NETWORKS = stateTable<number, NetworkRecord>({
  name: 'bridge-networks',
  prefix: 0x41,
  codec: NETWORK_RECORD,
  id: (network) => network.toString(16).padStart(2, '0'),
})

const DEPOSIT_RECORD = container('Deposit', { network: uint8, to: hex32<Address>(), amount: uint128, height: uint32 })

/** Kept for ever, so that no deposit is minted twice. */
export const DEPOSITS = stateTable<Hash, ValueOf<typeof DEPOSIT_RECORD>>({
  name: 'bridge-deposits',
  prefix: 0x42,
  codec: DEPOSIT_RECORD,
  id: (record) => record,
})

const WITHDRAWAL_RECORD = container('Withdrawal', {
  network: uint8,
  sender: hex32<Address>(),
  amount: uint128,
  fee: uint128,
  recipient: externalAddress,
  status: uint8,
  createdAt: uint32,
  externalTxId,
})

/** The recipient gets amount - fee. `externalTxId` is empty until the release. */
export type Withdrawal = ValueOf<typeof WITHDRAWAL_RECORD>

/** Withdrawals by the id of their transaction, kept for ever. */
export const WITHDRAWALS = stateTable<TxId, Withdrawal>({
  name: 'withdrawals',
  prefix: 0x43,
  codec: WITHDRAWAL_RECORD,
  id: (txId) => txId,
})

/**
 * States of a withdrawal; the index is the number in records. A withdrawal goes from pending to signing to released, or
 * from pending to cancelled.
 */
export const WITHDRAWAL_STATES = ['pending', 'signing', 'released', 'cancelled'] as const

/** State of a withdrawal. */
export type WithdrawalState = (typeof WITHDRAWAL_STATES)[number]

/** Number of a withdrawal's state. */
export function statusOf(state: WithdrawalState): number {
  return WITHDRAWAL_STATES.indexOf(state)
}

/** State of a withdrawal record. */
export function stateOf({ status }: Pick<Withdrawal, 'status'>): WithdrawalState {
  return WITHDRAWAL_STATES[status] as WithdrawalState
}

/** A network's number is checked before it gets into transactions and records. */
export function networkRules({ networks }: BridgeRules, network: number): BridgeNetwork {
  return networks[network] as BridgeNetwork
}

/** What the vault holds for new withdrawals: deposited - released - fees - pending. Never below 0. */
export function floatOf({ deposited, released, fees, pending }: NetworkRecord): Amount {
  return amount(deposited - released - fees - pending)
}

/** A network with a vault, and the committee that attests for it. */
export interface OpenNetwork {
  readonly committee: Committee
  readonly record: NetworkRecord
  readonly rules: BridgeNetwork
}

/** The network with its committee, or the fault that it is closed. */
export function openNetwork(view: StateView, bridge: BridgeRules, network: number): OpenNetwork | Fault {
  const committee = view.get(COMMITTEE, undefined)
  const record = view.get(BRIDGE_NETWORKS, network)
  const rules = networkRules(bridge, network)
  if (committee === undefined || record === undefined) return fault('bridge/closed', { network: rules.name })
  return { committee, record, rules }
}

/** The fault of a halted network, else null. */
export function whyHalted({ record, rules }: OpenNetwork): Fault | null {
  return record.halted ? fault('bridge/halted', { network: rules.name }) : null
}

/** The fault of an amount below the network's minimum, else null. */
export function whyBelowMinimum(view: StateView, { rules }: OpenNetwork, value: Amount): Fault | null {
  if (value >= rules.minimum) return null
  const told = { network: rules.name, symbol: rules.asset, minimum: rules.minimum.toString() }
  return fault('bridge/below-minimum', { ...told, minimumText: wrappedText(view, rules, rules.minimum) })
}

/** An amount of a network's wrapped token, in decimal text. */
export function wrappedText(view: StateView, rules: BridgeNetwork, value: bigint): string {
  return formatAmount(value, decimalsOf(view, rules))
}

/**
 * Used only in the texts of faults. A missing token gives 0 instead of an error, since a message must not stop a node.
 */
function decimalsOf(view: StateView, { asset }: BridgeNetwork): number {
  return view.get(TOKENS, tokenAsset(asset))?.decimals ?? 0
}

/** Burning does not make room. */
export function whyBeyondSupply(view: StateView, { record, rules }: OpenNetwork, value: Amount): Fault | null {
  const headroom = headroomOf(supplyRecord(view, record.asset))
  if (value <= headroom) return null
  return beyondMaximum({ symbol: rules.asset, decimals: decimalsOf(view, rules) }, headroom)
}

/** The first vault of a network creates its record. */
export function setVault(overlay: Overlay, bridge: BridgeRules, network: number, vault: string): void {
  const record = overlay.get(BRIDGE_NETWORKS, network) ?? {
    version: 1,
    asset: tokenAsset(networkRules(bridge, network).asset),
    halted: false,
    deposited: ZERO,
    released: ZERO,
    fees: ZERO,
    pending: ZERO,
    mintDay: 0,
    mintedToday: ZERO,
    deposits: 0,
    withdrawals: 0,
  }
  overlay.put(BRIDGE_NETWORKS, network, { ...record, vault })
}
