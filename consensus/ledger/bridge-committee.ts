import { ZERO } from '../primitives/amount.ts'
import { fault } from '../primitives/fault.ts'
import type { Overlay } from '../state/overlay.ts'
import { whyUnattested } from './attestation.ts'
import { BRIDGE_NETWORKS, COMMITTEE, openNetwork, setVault, whyHalted } from './bridge-records.ts'
import type { BlockContext, KindHandler } from './module.ts'

/**
 * `bridge_rotate`: schedules a new committee, with the vaults and the ends of halts that it names. All take effect
 * after the delay.
 */
const bridgeRotate: KindHandler<'bridge_rotate'> = {
  spends: () => ZERO,
  apply: (context, { body: { payload } }) => {
    const { overlay, rules, height } = context
    const committee = overlay.get(COMMITTEE, undefined)
    if (committee === undefined) return fault('bridge/closed', { network: 'any other' })
    const [pending] = committee.rotation
    if (pending !== undefined) return fault('bridge/rotation-pending', { effectiveAt: pending.effectiveAt })
    const { attestation, ...rotation } = payload
    const refusal = whyUnattested(context, committee, attestation, { action: 'rotate', ...rotation })
    if (refusal !== null) return refusal
    const effectiveAt = height + rules.bridge.rotationDelay
    overlay.put(COMMITTEE, undefined, { ...committee, rotation: [{ effectiveAt, ...rotation }] })
    return null
  },
}

/** `bridge_halt`: halts a network until a rotation resumes it. */
const bridgeHalt: KindHandler<'bridge_halt'> = {
  spends: () => ZERO,
  apply: (context, { body: { payload } }) => {
    const { overlay, rules } = context
    const { network, attestation } = payload
    const open = openNetwork(overlay, rules.bridge, network)
    if ('code' in open) return open
    const refusal = whyHalted(open) ?? whyUnattested(context, open.committee, attestation, { action: 'halt', network })
    if (refusal !== null) return refusal
    overlay.put(BRIDGE_NETWORKS, network, { ...open.record, halted: true })
    return null
  },
}

/** Runs at the start of the block that ends the delay. */
export function* activateRotation({ rules, height, overlay }: BlockContext): Iterable<void> {
  const committee = overlay.get(COMMITTEE, undefined)
  const rotation = committee?.rotation[0]
  if (committee === undefined || rotation?.effectiveAt !== height) return
  const { threshold, keys, vaults, resume } = rotation
  overlay.put(COMMITTEE, undefined, { epoch: committee.epoch + 1, threshold, keys, rotation: [] })
  for (const { network, address } of vaults) setVault(overlay, rules.bridge, network, address)
  for (const network of resume) endHalt(overlay, network)
  yield
}

function endHalt(overlay: Overlay, network: number): void {
  const record = overlay.get(BRIDGE_NETWORKS, network)
  if (record !== undefined) overlay.put(BRIDGE_NETWORKS, network, { ...record, halted: false })
}

/** Transaction kinds by which the committee rotates or halts. */
export const committeeHandlers = { bridge_rotate: bridgeRotate, bridge_halt: bridgeHalt }
