import type { PaidChat, Site } from '../../marketplace/chat/info/platform-rules.ts'
import { listingsOf, sellerName } from '../discovery/listings.ts'
import { PerHead } from '../discovery/per-head.ts'
import { priceLine } from '../discovery/prices.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'

/** The service that sells single answers of the same models. */
const PAID_CHAT = 'node-llm-chat'

type Sales = Pick<Site, 'paidChat' | 'servicesOnSale' | 'services'>

const SALES = new PerHead<Sales>(32)

/** The chat platform's address, and what this node sells beside it. */
export function chatSite(node: NodeApi, baseUrl: string): Site {
  const sales = SALES.get(node, baseUrl, () => salesOf(node, baseUrl))
  return { baseUrl, operator: sellerName(node.market), hasDashboard: node.dashboard != null, ...sales }
}

function salesOf(node: NodeApi, baseUrl: string): Sales {
  const listings = listingsOf(node, baseUrl)
  const onSale = listings.filter(({ entry }) => entry.available)
  const listing = onSale.find(({ entry }) => entry.serviceId === PAID_CHAT)
  const paidChat: PaidChat | null =
    listing === undefined
      ? null
      : {
          url: `${baseUrl}/api/x402/${PAID_CHAT}`,
          price: priceLine(node.chain, node.market as MarketApi, listing),
        }
  const services = listings.map((one) => {
    const { serviceId, name, brief } = one.offer.definition
    const price = priceLine(node.chain, node.market as MarketApi, one)
    return { serviceId, name, brief, price, reason: one.state.reason }
  })
  return { paidChat, servicesOnSale: onSale.length, services }
}
