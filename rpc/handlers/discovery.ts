import { quoteBook } from '../cashier/quotes.ts'
import { agentCard } from '../discovery/agent-card.ts'
import { bazaarItems, type Generation, type ResourceFilter } from '../discovery/bazaar.ts'
import { robotsText, sitemap } from '../discovery/crawlers.ts'
import { llmsFullText, llmsText } from '../discovery/llms.ts'
import { suggestions } from '../market/registry.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { ApiRequest, Handler, PlainAnswer } from '../server/answer.ts'
import { cataloguePage } from '../web/catalogue-page.ts'
import { pageAnswer } from '../web/layout.ts'
import { noServicePage, servicePage } from '../web/service-page.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const PLAIN_TYPE = 'text/plain; charset=utf-8'
const LIMIT_DEFAULT = 20

function text(content: string, contentType: string): PlainAnswer {
  return { status: 200, content, contentType }
}

function wordOf({ query }: ApiRequest, name: string): string | undefined {
  const value = query[name]
  return value === undefined ? undefined : String(value)
}

function listed(
  node: NodeApi,
  request: ApiRequest,
  { generation, offset, query }: { generation: Generation; offset: number; query?: string | undefined },
): { readonly texts: readonly string[]; readonly total: number; readonly limit: number } {
  const limit = Number(request.query.limit ?? LIMIT_DEFAULT)
  const { market } = node
  if (market === null) return { texts: [], total: 0, limit }
  const names = ['type', 'payTo', 'scheme', 'network', 'extensions'] as const
  const words: ResourceFilter = Object.fromEntries(names.map((name) => [name, wordOf(request, name)]))
  const basis = { node, quotes: quoteBook(node.chain, market), baseUrl: request.baseUrl }
  const filter = { ...words, query }
  return { ...bazaarItems(basis, generation, { filter, window: { limit, offset } }), limit }
}

/** The list for x402 catalogues, in the x402 version that is asked for. */
export const listResources: Handler<'listResources'> = (node, request) => {
  const generation = request.query.x402Version === 1 ? 1 : 2
  const offset = Number(request.query.offset ?? 0)
  const { texts, total, limit } = listed(node, request, { generation, offset })
  const pagination = JSON.stringify({ limit, offset, total })
  return text(`{"x402Version":${generation},"items":[${texts.join(',')}],"pagination":${pagination}}`, JSON_TYPE)
}

/** The services that match some words. */
export const searchResources: Handler<'searchResources'> = (node, request) => {
  const offset = Number(request.query.cursor ?? 0)
  const query = wordOf(request, 'query') ?? wordOf(request, 'q')
  const { texts, total, limit } = listed(node, request, { generation: 2, offset, query })
  const next = offset + texts.length
  const pagination = JSON.stringify({ limit, cursor: next < total && texts.length > 0 ? String(next) : null })
  const content = `{"x402Version":2,"resources":[${texts.join(',')}],"partialResults":false,"pagination":${pagination}}`
  return text(content, JSON_TYPE)
}

/** The A2A card. */
export const getAgentCard: Handler<'getAgentCard'> = (node, { baseUrl }) => {
  const card = agentCard(node, baseUrl)
  return typeof card === 'string' ? text(card, JSON_TYPE) : card
}

/** The text for language models. */
export const getLlms: Handler<'getLlms'> = (node, { baseUrl }) => text(llmsText(node, baseUrl), PLAIN_TYPE)

/** The text for language models, with every service. */
export const getLlmsFull: Handler<'getLlmsFull'> = (node, { baseUrl }) => text(llmsFullText(node, baseUrl), PLAIN_TYPE)

/** Rules for crawlers. */
export const getRobots: Handler<'getRobots'> = (_, { baseUrl }) => text(robotsText(baseUrl), PLAIN_TYPE)

/** The sitemap of the pages for people. */
export const getSitemap: Handler<'getSitemap'> = (node, { baseUrl }) =>
  text(sitemap(node, baseUrl), 'application/xml; charset=utf-8')

/** The catalogue for people. */
export const getCatalogue: Handler<'getCatalogue'> = (node, request) => {
  const words = wordOf(request, 'q') ?? wordOf(request, 'query')
  const search = { q: words?.trim(), capability: wordOf(request, 'capability') }
  return pageAnswer(cataloguePage(node, request.baseUrl, search))
}

/** The page of one service, or a 404 page with similar names. */
export const getServicePage: Handler<'getServicePage'> = (node, { params, baseUrl }) => {
  const serviceId = params.serviceId
  const page = servicePage(node, baseUrl, serviceId)
  if (page !== undefined) return pageAnswer(page)
  const meant = node.market === null ? [] : suggestions(node.market, serviceId)
  return pageAnswer(noServicePage(baseUrl, serviceId, meant), 404)
}
