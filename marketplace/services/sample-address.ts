import { formatAddress, parseAddress } from '../../consensus/crypto/address.ts'
import type { ServiceDefinition } from './service.ts'

/** Samples and examples are written with addresses of the development network, whose keys nobody has. */
const WRITTEN = { prefix: 'dfar', pattern: /\bdfar1[02-9ac-hj-np-z]{58}\b/g }

/** A service whose sample and example name addresses as this network writes them: those of another are refused. */
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
