import type { Config } from '../config/settings.ts'
import { proceduralImageGen } from '../marketplace/services/node-image-gen.ts'
import type { ServiceDefinition } from '../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../marketplace/services/table.ts'

/** The services as this operator sells them: some say something else of themselves by what was chosen for them. */
export function offeredServices({ outside }: Pick<Config, 'outside'>): readonly ServiceDefinition[] {
  if (!outside.models.proceduralImages) return SERVICE_TABLE
  return SERVICE_TABLE.map((one) => (one.serviceId === proceduralImageGen.serviceId ? proceduralImageGen : one))
}
