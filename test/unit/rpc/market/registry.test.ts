import { describe, expect, it } from 'vitest'
import type { RuleBook } from '../../../../consensus/chain/rule-book.ts'
import { nativeUsd, protocolDocument } from '../../../../rpc/market/registry.ts'
import type { NodeApi } from '../../../../rpc/node/node-api.ts'
import { TestChain } from '../../../support/chain.ts'
import { poolRuleBook } from '../../../support/pools.ts'

const node = async (ruleBook: RuleBook): Promise<NodeApi> =>
  ({ chain: (await TestChain.open(ruleBook)).chain, market: null }) as unknown as NodeApi

describe('the price of the coin in documents', () => {
  const majors = { BTC: null, ETH: null, SOL: null, BNB: null, LTC: null }
  const source = 'the pool of FAR and FUSD at 0.3 %, block by block over the previous 20 blocks'

  it('is that of the pool, also of a node that sells nothing', async () => {
    const priced = await node(poolRuleBook())
    expect(nativeUsd(priced)).toBe(0.25)
    expect(protocolDocument(priced, 'http://here')).toMatchObject({
      nativeUsd: 0.25,
      priceFeed: { source, live: true, majors },
    })
  })

  it('is null where it is not known, and never 0', async () => {
    const unpriced = await node(poolRuleBook([]))
    expect(nativeUsd(unpriced)).toBeNull()
    expect(protocolDocument(unpriced, 'http://here')).toMatchObject({
      nativeUsd: null,
      priceFeed: { source, live: false, majors },
    })
  })
})
