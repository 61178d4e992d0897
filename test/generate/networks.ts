import { NETWORKS } from '../../config/networks/table.ts'
import { networkFacts } from '../../src/market/network-facts.ts'

/** `rpc/client/sdk/networks.json`: the client's networks, so that it needs no code of the node. */
export function networksDocument(): string {
  const facts = Object.entries(NETWORKS).map(([name, params]) => [name, networkFacts(params)])
  return `${JSON.stringify(Object.fromEntries(facts), null, 2)}\n`
}
