import { externalTxIdBytes } from '../external/transaction-id.ts'
import { add, amount, mulDivUp, subtractProven, ZERO } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { TxId } from '../primitives/ids.ts'
import type { StateView } from '../state/view.ts'
import { whyUnattested } from './attestation.ts'
import {
  BRIDGE_NETWORKS,
  floatOf,
  type OpenNetwork,
  openNetwork,
  stateOf,
  statusOf,
  WITHDRAWALS,
  type Withdrawal,
  type WithdrawalState,
  whyBelowMinimum,
  whyBeyondSupply,
  whyHalted,
  wrappedText,
} from './bridge-records.ts'
import type { KindHandler, TxContext } from './module.ts'
import { burnAsset, mintAsset } from './supply.ts'
import { creditAsset, debitAsset } from './token-balances.ts'

const BPS = 10_000n

/** `bridge_withdraw`: burns wrapped tokens, at most as many as the vault can pay out. */
const bridgeWithdraw: KindHandler<'bridge_withdraw'> = {
  spends: () => ZERO,
  apply: ({ overlay, rules, height, reportAmounts }, { txId, body: { sender, payload } }) => {
    const { network, recipient } = payload
    const open = openNetwork(overlay, rules.bridge, network)
    if ('code' in open) return open
    const { record } = open
    const refusal =
      whyHalted(open) ?? whyBelowMinimum(overlay, open, payload.amount) ?? whyBeyondFloat(overlay, open, payload.amount)
    if (refusal !== null) return refusal
    const short = debitAsset(overlay, { address: sender, asset: record.asset }, payload.amount)
    if (short !== null) return short
    burnAsset(overlay, record.asset, payload.amount)
    const fee = amount(mulDivUp(payload.amount, open.rules.feeBps, BPS))
    const withdrawal = { network, sender, amount: payload.amount, fee, recipient, createdAt: height }
    overlay.put(WITHDRAWALS, txId, { ...withdrawal, status: statusOf('pending'), externalTxId: new Uint8Array(0) })
    overlay.put(BRIDGE_NETWORKS, network, {
      ...record,
      pending: add(record.pending, payload.amount),
      withdrawals: record.withdrawals + 1,
    })
    reportAmounts([subtractProven(payload.amount, fee)])
    return null
  },
}

function whyBeyondFloat(view: StateView, { record, rules }: OpenNetwork, value: bigint): Fault | null {
  const float = floatOf(record)
  if (value <= float) return null
  const told = { network: rules.name, symbol: rules.asset, float: float.toString() }
  return fault('bridge/float', { ...told, floatText: wrappedText(view, rules, float) })
}

/** `bridge_sign`: the committee begins to pay, so the withdrawal cannot be cancelled. */
const bridgeSign: KindHandler<'bridge_sign'> = {
  spends: () => ZERO,
  apply: (context, { body: { payload } }) => {
    const { withdrawalId, attestation } = payload
    const found = openWithdrawal(context, withdrawalId, 'pending')
    if ('code' in found) return found
    const { withdrawal, open } = found
    const refusal =
      whyHalted(open) ??
      whyUnattested(context, open.committee, attestation, { action: 'sign', network: withdrawal.network, withdrawalId })
    if (refusal !== null) return refusal
    context.overlay.put(WITHDRAWALS, withdrawalId, { ...withdrawal, status: statusOf('signing') })
    return null
  },
}

/** `bridge_release`: the withdrawal was paid on its network. Works in a halt too, since the payment is already made. */
const bridgeRelease: KindHandler<'bridge_release'> = {
  spends: () => ZERO,
  apply: (context, { body: { payload } }) => {
    const { withdrawalId, externalTxId, attestation } = payload
    const found = openWithdrawal(context, withdrawalId, 'signing')
    if ('code' in found) return found
    const { withdrawal, open } = found
    const { network, amount, fee } = withdrawal
    if (externalTxId.length !== externalTxIdBytes(open.rules.format)) {
      return fault('bridge/attestation', { reason: `${externalTxId.length} bytes are no transaction id there` })
    }
    const action = { action: 'release', network, withdrawalId, externalTxId } as const
    const refusal = whyUnattested(context, open.committee, attestation, action)
    if (refusal !== null) return refusal
    const { record } = open
    context.overlay.put(WITHDRAWALS, withdrawalId, { ...withdrawal, status: statusOf('released'), externalTxId })
    context.overlay.put(BRIDGE_NETWORKS, network, {
      ...record,
      pending: subtractProven(record.pending, amount),
      released: add(record.released, subtractProven(amount, fee)),
      fees: add(record.fees, fee),
    })
    return null
  },
}

/** `bridge_cancel`: gives a pending withdrawal back in full. Works in a halt too. */
const bridgeCancel: KindHandler<'bridge_cancel'> = {
  spends: () => ZERO,
  apply: (context, { body: { payload } }) => {
    const { withdrawalId, attestation } = payload
    const found = openWithdrawal(context, withdrawalId, 'pending')
    if ('code' in found) return found
    const { withdrawal, open } = found
    const { network, sender, amount } = withdrawal
    const refusal =
      whyBeyondSupply(context.overlay, open, amount) ??
      whyUnattested(context, open.committee, attestation, { action: 'cancel', network, withdrawalId })
    if (refusal !== null) return refusal
    const { record } = open
    context.overlay.put(WITHDRAWALS, withdrawalId, { ...withdrawal, status: statusOf('cancelled') })
    context.overlay.put(BRIDGE_NETWORKS, network, { ...record, pending: subtractProven(record.pending, amount) })
    mintAsset(context.overlay, record.asset, amount)
    const returned = creditAsset(context.overlay, { address: sender, asset: record.asset }, amount)
    assert(returned, 'the account of a withdrawal is gone')
    return null
  },
}

function openWithdrawal(
  { overlay, rules }: TxContext,
  withdrawalId: TxId,
  state: WithdrawalState,
): { readonly withdrawal: Withdrawal; readonly open: OpenNetwork } | Fault {
  const withdrawal = overlay.get(WITHDRAWALS, withdrawalId)
  if (withdrawal === undefined) return fault('bridge/withdrawal-unknown', { withdrawalId })
  if (stateOf(withdrawal) !== state) return fault('bridge/withdrawal-state', { status: stateOf(withdrawal) })
  const open = openNetwork(overlay, rules.bridge, withdrawal.network)
  return 'code' in open ? open : { withdrawal, open }
}

/** Transaction kinds of withdrawals. */
export const withdrawalHandlers = {
  bridge_withdraw: bridgeWithdraw,
  bridge_sign: bridgeSign,
  bridge_release: bridgeRelease,
  bridge_cancel: bridgeCancel,
}
