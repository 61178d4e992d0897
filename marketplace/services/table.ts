import { gasTracker } from './node-gas-tracker.ts'
import { networkStats } from './node-network-stats.ts'
import { txLookup } from './node-tx-lookup.ts'
import type { ServiceDefinition } from './service.ts'

/** Every service that this release can sell, in the order of listings. */
export const SERVICE_TABLE: readonly ServiceDefinition[] = [networkStats, gasTracker, txLookup]
