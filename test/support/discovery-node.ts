import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import type { MarketApi, NodeApi } from '../../rpc/node/node-api.ts'
import { type MarketParts, TestMarket } from './market.ts'

/** The public URL of the node in these tests. */
export const HERE = 'https://node.example'

/** The dollar rail as discovery documents see it: open, or closed for a reason. */
export function shownRail(closedBecause: string | null = null): DollarRail {
  return {
    terms: {
      network: { word: 'base', caip2: 'eip155:8453', chainId: 8453 },
      asset: {
        symbol: 'USDC',
        contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        decimals: 6,
        domain: { name: 'USD Coin', version: '2' },
      },
      payTo: '0x1111111111111111111111111111111111111111',
      maxTimeoutSeconds: 120,
    },
    facilitators: [],
    verified: { ok: true, detail: 'asked' },
    sales: () => ({ calls: 3, amount: 6_000n }),
    closedBecause,
  } as unknown as DollarRail
}

/** A node that sells the test services on a real chain. */
export async function sellingNode(
  parts: MarketParts & { readonly stable?: DollarRail } = {},
): Promise<{ readonly node: NodeApi; readonly market: TestMarket }> {
  const market = await TestMarket.open(parts)
  const { shop, price, mempool } = market
  const api = { shop, price, settings: DEFAULT_MARKET_SETTINGS, stable: parts.stable ?? null } as unknown as MarketApi
  const node = {
    version: '1.2.3',
    chain: market.test.chain,
    mempool,
    market: api,
    mining: () => ({ threads: 0, hashesPerSecond: 0, rewardTo: null }),
    peerCount: () => 0,
  } as unknown as NodeApi
  return { node, market }
}
