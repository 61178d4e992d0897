import { formatAddress, parseAddress } from '../../consensus/crypto/address.ts'
import type { ServiceDefinition } from './service.ts'

/** Samples and examples use addresses of the development network; their private keys are unknown. */
const WRITTEN = { prefix: 'dfar', pattern: /\bdfar1[02-9ac-hj-np-z]{58}\b/g }

/** A service whose sample and example use this network's address prefix: addresses of another network are refused. */
export function withOwnAddresses(definition: ServiceDefinition, prefix: string): ServiceDefinition {
  if (prefix === WRITTEN.prefix) return definition
  const rewritten = (text: string): string =>
    text.replace(WRITTEN.pattern, (written) => {
      const address = parseAddress(WRITTEN.prefix, written)
      return address.ok ? formatAddress(prefix, address.value) : written
    })
  const sample = JSON.parse(rewritten(JSON.stringify(definition.sample))) as object
  return { ...definition, example: rewritten(definition.example), sample }
}
