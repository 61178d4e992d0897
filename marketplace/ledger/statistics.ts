import { taggedHashHex } from '../../consensus/crypto/hash.ts'
import { type Amount, add, ZERO } from '../../consensus/primitives/amount.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { container, safeUint64, uint8, uint128, type ValueOf } from '../../consensus/primitives/codec.ts'
import type { Address, AgentId, ServiceId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { Overlay } from '../../consensus/state/overlay.ts'
import { stateTable, textKey } from '../../consensus/state/table.ts'
import { type ServiceName, serviceKey } from './agents.ts'

const STATISTICS_RECORD = container('Statistics', { calls: safeUint64, volume: uint128, payers: safeUint64 })

/** Delivered calls, what they paid (burn included), and how many callers paid. Calls by insiders do not count. */
export type Statistics = ValueOf<typeof STATISTICS_RECORD>

/** The record before the first delivery. */
export const NO_STATISTICS: Statistics = { calls: 0, volume: ZERO, payers: 0 }

/** `payers` counts a caller once per service. */
export const AGENT_STATISTICS = stateTable<AgentId, Statistics>({
  name: 'agent-statistics',
  prefix: 0x61,
  codec: STATISTICS_RECORD,
  id: textKey,
})

/** Proven calls per service. */
export const SERVICE_STATISTICS = stateTable<ServiceName, Statistics>({
  name: 'service-statistics',
  prefix: 0x63,
  codec: STATISTICS_RECORD,
  id: serviceKey,
})

interface PayerName extends ServiceName {
  readonly caller: Address
}

/** Marks that a caller has paid for a delivered call of a service before. */
export const PAYERS = stateTable<PayerName, number>({
  name: 'payers',
  prefix: 0x64,
  codec: uint8,
  id: ({ agentId, serviceId, caller }) =>
    taggedHashHex('payer', fromHex(caller), encodeText(`${agentId}/${serviceId}`)),
})

/** Calls of one service that a payer was charged for. */
export interface Delivered {
  readonly serviceId: ServiceId
  readonly calls: number
  readonly charged: Amount
}

/** Counts delivered calls of one payer. A service without a counted call adds its volume, but no payer. */
export function countDeliveries(
  overlay: Overlay,
  agentId: AgentId,
  caller: Address,
  delivered: readonly Delivered[],
): void {
  for (const { serviceId, calls, charged } of delivered) {
    const name = { agentId, serviceId }
    const payer = { ...name, caller }
    const first = calls > 0 && overlay.get(PAYERS, payer) === undefined
    if (first) overlay.put(PAYERS, payer, 1)
    const counted = (known: Statistics): Statistics => ({
      calls: known.calls + calls,
      volume: add(known.volume, charged),
      payers: known.payers + (first ? 1 : 0),
    })
    overlay.put(SERVICE_STATISTICS, name, counted(overlay.get(SERVICE_STATISTICS, name) ?? NO_STATISTICS))
    overlay.put(AGENT_STATISTICS, agentId, counted(overlay.get(AGENT_STATISTICS, agentId) ?? NO_STATISTICS))
  }
}
