import type { ClientParams } from '../transactions.ts'
import known from './networks.json' with { type: 'json' }
import type { NetworkFacts, NetworkName } from './shapes.ts'

/** The facts of a network by its name, or those given. */
export function factsOf(network: NetworkName | NetworkFacts): NetworkFacts {
  return typeof network === 'string' ? known[network] : network
}

/** The facts in the form that transactions are prepared with. */
export function paramsOf({ invokeTerms, weight, epochBlocks, ...names }: NetworkFacts): ClientParams {
  return { ...names, steps: [{ rules: { tx: { weight, invokeTerms }, market: { epochBlocks } } }] }
}
