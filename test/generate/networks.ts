import { NETWORKS } from '../../config/networks/table.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import type { NetworkFacts } from '../../rpc/client/sdk/shapes.ts'
import { PROTOCOL } from '../../src/protocol.ts'

/** The facts of a network that a client needs, from its parameters. */
export function networkFacts(params: NetworkParams): NetworkFacts {
  const { name, addressPrefix, ticker, decimals } = params
  const { genesis, network } = createRuleBook(params, PROTOCOL)
  const { rules } = params.steps.at(-1) as (typeof params.steps)[number]
  return {
    name,
    genesis: genesis.block.id,
    chainId: network.chainId,
    addressPrefix,
    ticker,
    decimals,
    epochBlocks: rules.market.epochBlocks,
    invokeTerms: rules.tx.invokeTerms,
    weight: rules.tx.weight,
    pow: rules.block.pow,
    powLimit: rules.block.powLimit.toString(16),
  }
}

/** `rpc/client/sdk/networks.json`: the client's networks, so that it needs no code of the node. */
export function networksDocument(): string {
  const facts = Object.entries(NETWORKS).map(([name, params]) => [name, networkFacts(params)])
  return `${JSON.stringify(Object.fromEntries(facts), null, 2)}\n`
}
