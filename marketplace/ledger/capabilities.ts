/** A capability's number is its index here; bit n of an agent's set stands for number n. */
export const CAPABILITIES = [
  'audit',
  'compute',
  'pricing',
  'market-data',
  'portfolio',
  'utility',
  'oracle',
  'compliance',
  'analytics',
  'trading',
  'reports',
  'staking-calculator',
  'whale-watch',
  'explorer',
  'bridge',
  'search',
] as const

/** Name of a capability. */
export type Capability = (typeof CAPABILITIES)[number]

/** Number of a capability on the wire. */
export function capabilityNumber(capability: Capability): number {
  return CAPABILITIES.indexOf(capability)
}

/** Bit set of capabilities. */
export function capabilitySet(capabilities: readonly Capability[]): number {
  return capabilities.reduce((set, capability) => set | (1 << capabilityNumber(capability)), 0)
}
