import type { Config } from '../../config/settings.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { proceduralImageGen } from '../../marketplace/services/providers/image-gen.ts'
import { withOwnAddresses } from '../../marketplace/services/sample-address.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'

/** Addresses in the examples are those of the network. */
export function offeredServices(
  { outside }: Pick<Config, 'outside'>,
  { addressPrefix }: Pick<NetworkParams, 'addressPrefix'>,
): readonly ServiceDefinition[] {
  const isProcedural = outside.models.proceduralImages
  return SERVICE_TABLE.map((one) =>
    withOwnAddresses(
      isProcedural && one.serviceId === proceduralImageGen.serviceId ? proceduralImageGen : one,
      addressPrefix,
    ),
  )
}
