import { unknownName } from '../../../consensus/primitives/likeness.ts'
import type { ClientParams } from '../transactions.ts'
import known from './networks.json' with { type: 'json' }
import { invalid } from './options.ts'
import type { NetworkFacts, NetworkName } from './shapes.ts'

/** The facts of a network, by name or as given. Errors: `invalid_option` for an unknown name or a missing fact. */
export function factsOf(network: NetworkName | NetworkFacts): NetworkFacts {
  if (typeof network !== 'string') {
    const missing = Object.keys(known.mainnet).find((name) => !Object.hasOwn(network, name))
    if (missing !== undefined) throw invalid(`network: its facts have no ${missing}`)
    return network
  }
  if (Object.hasOwn(known, network)) return known[network]
  throw invalid(unknownName('network', network, Object.keys(known)))
}

/** The facts that preparing a transaction needs. */
export function paramsOf({ invokeTerms, weight, epochBlocks, tabs, ...names }: NetworkFacts): ClientParams {
  const tx = { weight, invokeTerms, ...(tabs === undefined ? {} : { tabs }) }
  return { ...names, steps: [{ rules: { tx, market: { epochBlocks } } }] }
}
