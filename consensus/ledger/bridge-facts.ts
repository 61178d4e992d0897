import { addressOfKeys, encodeAccountKeys, singleKey } from '../crypto/account-keys.ts'
import type { HybridPublicKey } from '../crypto/hybrid.ts'
import { formatExternalTxId } from '../external/transaction-id.ts'
import { type Amount, amount, subtractProven, ZERO } from '../primitives/amount.ts'
import type { Address, TxId } from '../primitives/ids.ts'
import type { StateView } from '../state/view.ts'
import type { Rotation } from '../tx/attestations.ts'
import { membersWanted } from './attestation.ts'
import { mintDayOf, mintedIn } from './bridge-deposits.ts'
import {
  BRIDGE_NETWORKS,
  COMMITTEE,
  type Committee,
  floatOf,
  type NetworkRecord,
  networkRules,
  stateOf,
  WITHDRAWALS,
  type Withdrawal,
  type WithdrawalState,
} from './bridge-records.ts'
import type { LedgerRules } from './module.ts'
import type { BridgeNetwork } from './rules.ts'

/** A committee key. `member` is the address of this key alone, as its wallet shows it. */
export interface MemberFacts {
  readonly key: HybridPublicKey
  readonly member: Address
}

/** A pending rotation. */
export interface RotationFacts extends Pick<Rotation, 'threshold' | 'vaults' | 'resume'> {
  readonly effectiveAt: number
  readonly keys: readonly MemberFacts[]
}

/** `haltThreshold` keys can halt; every other action takes `threshold`. */
export interface CommitteeFacts {
  readonly epoch: number
  readonly threshold: number
  readonly haltThreshold: number
  readonly keys: readonly MemberFacts[]
  readonly rotation: RotationFacts | null
}

/**
 * `open`: all works. `halted`: only the release and the cancellation of withdrawals work. `not configured`: there is no
 * committee or no vault, so nothing works.
 */
export type NetworkStatus = 'open' | 'halted' | 'not configured'

/** Amounts are in base units of the wrapped token. */
export interface NetworkFacts {
  readonly number: number
  readonly rules: BridgeNetwork
  readonly status: NetworkStatus
  readonly vault: string | null
  readonly halted: boolean
  readonly deposited: Amount
  readonly released: Amount
  readonly fees: Amount
  readonly pending: Amount
  /** What the vault holds for new withdrawals. */
  readonly float: Amount
  /** Minted on the day of the height that was asked for. */
  readonly mintedToday: Amount
  readonly deposits: number
  readonly withdrawals: number
}

/** The committee and every network, opened or not. */
export interface BridgeFacts {
  readonly committee: CommitteeFacts | null
  readonly networks: readonly NetworkFacts[]
}

/** A withdrawal and its network. */
export interface WithdrawalFacts {
  readonly id: TxId
  readonly network: number
  readonly rules: BridgeNetwork
  readonly sender: Address
  readonly amount: Amount
  readonly fee: Amount
  /** Paid to the recipient: amount - fee. */
  readonly receives: Amount
  readonly recipient: string
  readonly state: WithdrawalState
  readonly createdAt: number
  /** In the text form of its network; null until the release. */
  readonly externalTxId: string | null
}

const UNUSED = { deposited: ZERO, released: ZERO, fees: ZERO, pending: ZERO, deposits: 0, withdrawals: 0 } as const

/** The height only tells the day for `mintedToday`. */
export function bridgeFacts(view: StateView, rules: Pick<LedgerRules, 'bridge'>, height: number): BridgeFacts {
  const committee = view.get(COMMITTEE, undefined)
  return {
    committee: committee === undefined ? null : committeeFacts(committee),
    networks: rules.bridge.networks.map((network, number) => {
      const record = view.get(BRIDGE_NETWORKS, number)
      const isOpen = committee !== undefined && record !== undefined
      return {
        ...{ number, rules: network, status: isOpen ? statusOf(record) : 'not configured' },
        ...(record === undefined ? unusedFacts() : recordFacts(record, mintDayOf(rules, height))),
      }
    }),
  }
}

/** A withdrawal by its id; undefined if there is none. */
export function withdrawalFacts(
  view: StateView,
  { bridge }: Pick<LedgerRules, 'bridge'>,
  id: TxId,
): WithdrawalFacts | undefined {
  const withdrawal = view.get(WITHDRAWALS, id)
  if (withdrawal === undefined) return undefined
  const { network, sender, amount, fee, recipient, createdAt } = withdrawal
  const rules = networkRules(bridge, network)
  const receives = subtractProven(amount, fee)
  const [state, externalTxId] = [stateOf(withdrawal), paidBy(withdrawal, rules)]
  return { id, network, rules, sender, amount, fee, receives, recipient, state, createdAt, externalTxId }
}

function committeeFacts(committee: Committee): CommitteeFacts {
  const { epoch, threshold, keys } = committee
  const [pending] = committee.rotation
  return {
    ...{ epoch, threshold, haltThreshold: membersWanted(committee, true), keys: keys.map(memberFacts) },
    rotation: pending === undefined ? null : { ...pending, keys: pending.keys.map(memberFacts) },
  }
}

function memberFacts(record: Committee['keys'][number]): MemberFacts {
  // Keys are checked before they get into the state.
  const key = record as HybridPublicKey
  return { key, member: addressOfKeys(encodeAccountKeys(singleKey(key))) }
}

function statusOf({ halted }: NetworkRecord): NetworkStatus {
  return halted ? 'halted' : 'open'
}

function unusedFacts() {
  return { vault: null, halted: false, ...UNUSED, float: ZERO, mintedToday: ZERO }
}

function recordFacts(record: NetworkRecord, day: number) {
  const { vault, halted, deposited, released, fees, pending, deposits, withdrawals } = record
  return {
    ...{ vault, halted, deposited, released, fees, pending, deposits, withdrawals },
    float: floatOf(record),
    mintedToday: amount(mintedIn(day, record)),
  }
}

function paidBy({ externalTxId }: Withdrawal, { format }: BridgeNetwork): string | null {
  return externalTxId.length === 0 ? null : formatExternalTxId(format, externalTxId)
}
