import { CHAIN_SERVICES } from './chain-services.ts'
import { OUTSIDE_SERVICES } from './outside-services.ts'
import type { ServiceDefinition } from './service.ts'

/** Every service that this release can sell, in the order of listings. */
export const SERVICE_TABLE: readonly ServiceDefinition[] = [...CHAIN_SERVICES, ...OUTSIDE_SERVICES]
