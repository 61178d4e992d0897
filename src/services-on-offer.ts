import type { Config } from '../config/settings.ts'
import type { ServiceDefinition } from '../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../marketplace/services/table.ts'

/** Every service of this release as the operator has set it up. */
export function offeredServices(_config: Pick<Config, 'outside'>): readonly ServiceDefinition[] {
  return SERVICE_TABLE
}
