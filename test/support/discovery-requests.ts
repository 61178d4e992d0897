import type { Asked } from './ledger-requests.ts'

const LISTS = [
  '',
  '?x402Version=1',
  '?limit=2&offset=1',
  '?type=mcp',
  '?scheme=native-x402&network=farthing:1',
  '?payTo=nobody&extensions=bazaar',
  '?limit=0',
  '?limit=101',
  '?offset=-1',
  '?x402Version=3',
]

const many =
  (path: string, queries: readonly string[] = ['']): Asked =>
  (send) =>
    queries.map((query) => send(`${path}${query}`))

/** Requests for the documents by which clients find the node and its services. */
export const discoveryRequests: Readonly<Record<string, Asked>> = {
  listResources: many('/x402/discovery', LISTS),
  listFacilitatorResources: many('/discovery/resources', LISTS),
  searchResources: many('/discovery/search', ['', '?query=price', '?query=zzz', '?limit=3&cursor=3', '?cursor=x']),
  getAgentCard: many('/.well-known/agent-card.json'),
  getAgentJson: many('/.well-known/agent.json'),
  getLlms: many('/llms.txt'),
  getLlmsFull: many('/llms-full.txt'),
  getRobots: many('/robots.txt'),
  getSitemap: many('/sitemap.xml'),
  getCatalogue: many('/agents', ['', '?q=price', '?capability=audit', '?q=%3Cscript%3E&capability=none']),
  getStatus: many('/api/v1/status'),
  getHealth: many('/health'),
  getReady: many('/ready'),
  getMetrics: many('/metrics'),
  getOpenApi: many('/openapi.json'),
  getHome: many('/'),
  getServicePage: many('/agents', ['/node-price-feed', '/node-test-closed', '/nothing', `/${'x'.repeat(201)}`]),
}
