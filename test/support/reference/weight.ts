import type { ReferenceRules } from './params.ts'
import type { Kind, Payload } from './payloads.ts'
import type { ClaimEntry } from './tab-schemas.ts'

type Surcharge = Exclude<keyof ReferenceRules['tx']['weight'], 'perSignature' | 'perStateWrite' | 'createAccount'>

/**
 * Declared writes and surcharge by kind, from the table of transactions.md, section 2. `declaredWrites` adds the writes per hop or entry.
 */
const COSTS: Readonly<Record<Kind, readonly [writes: number, surcharge?: Surcharge]>> = {
  transfer: [2],
  token_create: [5, 'createMarket'],
  token_mint: [4],
  token_transfer: [4],
  stable_mint: [4],
  token_burn: [3],
  stable_deposit: [3],
  stable_withdraw: [3],
  token_flags: [2],
  token_issuer: [2],
  stable_redeem: [5],
  pool_create: [5, 'createMarket'],
  liquidity_add: [5],
  liquidity_remove: [5],
  swap: [3],
  stake: [4],
  unstake: [4],
  claim: [4],
  bridge_deposit: [6, 'bridgeRecord'],
  bridge_withdraw: [5, 'bridgeRecord'],
  bridge_cancel: [5],
  bridge_release: [3],
  bridge_sign: [2],
  bridge_halt: [2],
  bridge_rotate: [2, 'bridgeRotation'],
  agent_register: [3, 'registerAgent'],
  agent_update: [2],
  service_retire: [2],
  service_publish: [3, 'publishService'],
  agent_invoke: [4, 'invokeRefund'],
  agent_receipt: [3],
  tab_open: [4],
  tab_fund: [3],
  tab_claim: [3],
  tab_close: [4],
  tab_terms: [2],
}

export function declaredWrites(payload: Payload): number {
  const [writes] = COSTS[payload.kind]
  if (payload.kind === 'swap') return writes + payload.hops.length
  if (payload.kind === 'tab_claim') {
    const ofEntry = ({ close, services }: ClaimEntry): number => 3 + (close ? 2 : 0) + 2 * services.length
    return payload.entries.reduce((sum, entry) => sum + ofEntry(entry), writes)
  }
  return payload.kind === 'agent_receipt' ? writes + 5 * payload.entries.length : writes
}

function tabSurcharge(payload: Payload, tabs: ReferenceRules['tx']['tabs']): number {
  if (tabs === undefined) return 0
  if (payload.kind === 'tab_open') return tabs.openReturn
  if (payload.kind === 'tab_close') return tabs.closeMove
  if (payload.kind !== 'tab_claim') return 0
  return tabs.perVoucher * payload.entries.filter(({ voucher }) => voucher.length > 0).length
}

/** Weight of a transaction of this length with this many signatures in its witness. */
export function weightOf(
  payload: Payload,
  bytes: number,
  signatures: number,
  { weight, tabs }: ReferenceRules['tx'],
): number {
  const [, surcharge] = COSTS[payload.kind]
  const attested = 'attestation' in payload ? payload.attestation.signatures.length : 0
  return (
    bytes +
    weight.perSignature * (signatures + attested) +
    weight.perStateWrite * declaredWrites(payload) +
    tabSurcharge(payload, tabs) +
    (surcharge === undefined ? 0 : weight[surcharge]) +
    ('create' in payload && payload.create ? weight.createAccount : 0)
  )
}
