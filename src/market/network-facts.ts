import type { NetworkParams } from '../../consensus/chain/params.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import type { TabRules } from '../../consensus/tx/rules.ts'
import type { NetworkFacts, TabNetworkFacts } from '../../rpc/client/sdk/shapes.ts'
import { PROTOCOL } from '../protocol.ts'

/** The facts of a network that a client needs, from its parameters. */
export function networkFacts(params: NetworkParams): NetworkFacts {
  const { name, addressPrefix, ticker, decimals } = params
  const { genesis, network } = createRuleBook(params, PROTOCOL)
  const { rules } = params.steps.at(-1) as (typeof params.steps)[number]
  const { tabs } = rules.tx
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
    ...(tabs === undefined ? {} : { tabs: tabFacts(tabs) }),
  }
}

function tabFacts({ depositMin, terms, closeDelays, perVoucher, openReturn, closeMove }: TabRules): TabNetworkFacts {
  return { depositMin: depositMin.toString(), terms, closeDelays, perVoucher, openReturn, closeMove }
}
