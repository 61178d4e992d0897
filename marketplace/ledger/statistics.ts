import { taggedHashHex } from '../../consensus/crypto/hash.ts'
import { type Amount, add, ZERO } from '../../consensus/primitives/amount.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { container, safeUint64, uint8, uint128, type ValueOf } from '../../consensus/primitives/codec.ts'
import type { Address, AgentId } from '../../consensus/primitives/ids.ts'
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

/** Counts one delivered call. */
export function countDelivery(overlay: Overlay, name: ServiceName, caller: Address, paid: Amount): void {
  const payer = { ...name, caller }
  const first = overlay.get(PAYERS, payer) === undefined
  if (first) overlay.put(PAYERS, payer, 1)
  const counted = ({ calls, volume, payers }: Statistics): Statistics => ({
    calls: calls + 1,
    volume: add(volume, paid),
    payers: payers + (first ? 1 : 0),
  })
  overlay.put(SERVICE_STATISTICS, name, counted(overlay.get(SERVICE_STATISTICS, name) ?? NO_STATISTICS))
  overlay.put(AGENT_STATISTICS, name.agentId, counted(overlay.get(AGENT_STATISTICS, name.agentId) ?? NO_STATISTICS))
}
