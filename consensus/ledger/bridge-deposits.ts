import { add, amount, ZERO } from '../primitives/amount.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import { depositRecordId } from '../tx/attestations.ts'
import type { BridgeDeposit } from '../tx/bridge-payloads.ts'
import { whyUnattested } from './attestation.ts'
import {
  BRIDGE_NETWORKS,
  DEPOSITS,
  type NetworkRecord,
  type OpenNetwork,
  openNetwork,
  whyBelowMinimum,
  whyBeyondSupply,
  whyHalted,
  wrappedText,
} from './bridge-records.ts'
import type { KindHandler, LedgerRules, TxContext } from './module.ts'
import { mintAsset } from './supply.ts'
import { creditOrCreate } from './token-balances.ts'

/** Number of a block's day, for the mint caps: floor(height / dayBlocks). */
export function mintDayOf({ bridge }: Pick<LedgerRules, 'bridge'>, height: number): number {
  return Math.floor(height / bridge.dayBlocks)
}

/**
 * Base units that a network has minted on `day`. The record counts only the day of the last deposit; other days give 0.
 */
export function mintedIn(day: number, { mintDay, mintedToday }: NetworkRecord): bigint {
  return mintDay === day ? mintedToday : 0n
}

/** `bridge_deposit`: mints what arrived in a vault, only once. */
export const bridgeDeposit: KindHandler<'bridge_deposit'> = {
  spends: () => ZERO,
  apply: (context, { body: { payload } }) => {
    const { overlay, rules, height } = context
    const { network, to, create } = payload
    const open = openNetwork(overlay, rules.bridge, network)
    if ('code' in open) return open
    const refusal =
      whyUnmintable(context, open, payload) ??
      whyUnattested(context, open.committee, payload.attestation, { ...payload, action: 'deposit' })
    if (refusal !== null) return refusal
    const { record } = open
    const day = mintDayOf(rules, height)
    overlay.put(DEPOSITS, depositRecordId(payload), { network, to, amount: payload.amount, height })
    overlay.put(BRIDGE_NETWORKS, network, {
      ...record,
      deposited: add(record.deposited, payload.amount),
      mintDay: day,
      mintedToday: amount(mintedIn(day, record) + payload.amount),
      deposits: record.deposits + 1,
    })
    mintAsset(overlay, record.asset, payload.amount)
    return creditOrCreate(overlay, { address: to, asset: record.asset }, payload.amount, create)
  },
}

function whyUnmintable({ overlay, rules, height }: TxContext, open: OpenNetwork, payload: BridgeDeposit): Fault | null {
  const early = whyHalted(open) ?? whyBelowMinimum(overlay, open, payload.amount)
  if (early !== null) return early
  if (overlay.get(DEPOSITS, depositRecordId(payload)) !== undefined) return fault('bridge/deposit-known')
  const minted = mintedIn(mintDayOf(rules, height), open.record)
  if (minted + payload.amount <= open.rules.dailyMintCap) return whyBeyondSupply(overlay, open, payload.amount)
  // A rule step during the day may have set the cap below what was already minted.
  const left = minted < open.rules.dailyMintCap ? open.rules.dailyMintCap - minted : 0n
  const told = { symbol: open.rules.asset, left: left.toString() }
  return fault('bridge/mint-cap', { ...told, leftText: wrappedText(overlay, open.rules, left) })
}
