import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import type { MarketApi, NodeApi } from '../../rpc/node/node-api.ts'
import type { TestRail } from './dollar.ts'

/** A node that sells the test services over both rails. */
export function railNode({ market, dollar }: TestRail): NodeApi {
  const { shop, price, store, settler, sender, mempool } = market
  const sold = { shop, price, store, settler, sender, till: market.till, settings: DEFAULT_MARKET_SETTINGS }
  return {
    version: 'test',
    startedAtMs: 0,
    clock: { now: Date.now },
    chain: market.test.chain,
    mempool,
    market: { ...sold, stable: dollar } as unknown as MarketApi,
    mining: () => ({ threads: 0, hashesPerSecond: 0, rewardTo: null }),
    peerCount: () => 0,
    notReadyBecause: () => [],
    metrics: async () => '',
    publicUrl: null,
  } as unknown as NodeApi
}
