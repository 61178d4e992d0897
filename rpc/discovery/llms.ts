import { PLATFORM_MODEL_IDS } from '../../marketplace/chat/call.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import { clientCall, curlQuote } from './how-to-call.ts'
import { type Listing, listingsOf } from './listings.ts'
import { PerHead } from './per-head.ts'
import { escapeMarkdown, markdownCode, urlInText } from './plain-text.ts'
import { priceLine } from './prices.ts'

const TEXTS = new PerHead<string>(64)

/** `/llms.txt`: only the services that can be bought now. */
export function llmsText(node: NodeApi, baseUrl: string): string {
  return TEXTS.get(node, `short ${answeringNow(node)} ${baseUrl}`, () => {
    const available = listingsOf(node, baseUrl).filter(({ entry }) => entry.available)
    const lines = available.map((listing) => {
      const { name, serviceId, description } = listing.entry
      const price = priceLine(node.chain, node.market as MarketApi, listing)
      const url = urlInText(`${baseUrl}/api/x402/${serviceId}`)
      return `- [${escapeMarkdown(name)}](${url}): ${escapeMarkdown(description)} ${escapeMarkdown(price)}`
    })
    return document(node, baseUrl, ['## Services', '', ...orNothing(lines), ''])
  })
}

/** `/llms-full.txt`: every service in full, and why some cannot be bought. */
export function llmsFullText(node: NodeApi, baseUrl: string): string {
  return TEXTS.get(node, `full ${answeringNow(node)} ${baseUrl}`, () => {
    const sections = listingsOf(node, baseUrl).flatMap((listing) => section(node, baseUrl, listing))
    return document(node, baseUrl, ['## Services', '', ...orNothing(sections)])
  })
}

function orNothing(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? ['- none at the moment'] : lines
}

function document(node: NodeApi, baseUrl: string, services: readonly string[]): string {
  const { params } = node.chain.ruleBook
  const name = node.market?.shop.operator.name || 'Farthing node'
  return [
    `# ${escapeMarkdown(name)}`,
    '',
    `> Services for AI agents, paid call by call over plain HTTP (x402), sold by a full node of the ${escapeMarkdown(params.name)}. No account, no API key: payment is the authentication. A call that fails is refunded by the chain, or not charged where it was paid in a stablecoin.`,
    '',
    'A call without payment answers 402 with the exact price in `accepts` and in the header `PAYMENT-REQUIRED`; pay one of the options in `accepts` and repeat the call. What stands in `offers` cannot be paid now: do not pay it. Clients of x402 of both generations do that by themselves; where the stablecoin rail is on, `?rail=stable` leaves its offer alone. As a program:',
    '',
    '```js',
    clientCall({ baseUrl: urlInText(baseUrl), serviceId: 'node-network-stats', request: '', network: params.name }),
    '```',
    '',
    ...(node.market?.tabs ? [TABS_NOTE, ''] : []),
    ...(node.market?.channels?.closedBecause === null ? [CHANNELS_NOTE, ''] : []),
    ...services,
    ...(node.chat == null ? [] : chatSection(answeringNow(node), baseUrl)),
    '## Documents',
    '',
    ...DOCUMENTS.map(([path, note]) => `- [${path}](${urlInText(baseUrl + path)}): ${note}`),
    '',
  ].join('\n')
}

function answeringNow({ chat }: NodeApi): string {
  if (chat == null) return ''
  const usable = PLATFORM_MODEL_IDS.filter((id) => chat.platform.readiness(id).available)
  return `${usable.length} of ${PLATFORM_MODEL_IDS.length} can answer now`
}

function chatSection(answering: string, baseUrl: string): readonly string[] {
  const link = (path: string, note: string): string => `- [${path}](${urlInText(baseUrl + path)}): ${note}`
  return [
    '## Chat',
    '',
    `A free chat platform over the interface of OpenAI: five models, for callers with a key of this node. ${answering}.`,
    '',
    link('/chat', 'what it is, how to get a key, how it is called'),
    link('/api/v1/info', 'facts about the platform and its models, as they are now; no key'),
    link('/api/v1/info/models', 'the models with state, figures and limits; no key'),
    link('/api/v1/info/qa', 'POST {"question"}: answers about the platform, with sources; no key'),
    link('/api/v1/chat/completions', 'POST, as with OpenAI: model-1, model-2, model-3, model-4; needs a key'),
    '',
  ]
}

const TABS_NOTE =
  'For many calls: open a tab, a deposit from which each call is paid at once (scheme `batch-settlement`; offers with `?rail=tab`). Its rest returns to the payer.'

const CHANNELS_NOTE =
  'For many calls in dollars: a channel on an EVM network (scheme `batch-settlement` of x402; offers with `?rail=channel`), which the public x402 clients open and use by themselves.'

const DOCUMENTS: readonly (readonly [string, string])[] = [
  ['/services.json', 'the registry: every service with price, state and record; `?q=` and `?capability=`'],
  ['/.well-known/x402', 'the payment protocol document: rails, facilitators, how a payment is made'],
  ['/x402/discovery', 'the list that x402 catalogues read; `?x402Version=1` for generation 1'],
  ['/openapi.json', 'the whole API'],
  ['/.well-known/agent-card.json', 'the A2A card'],
  ['/api/mcp', 'the MCP endpoint: one tool for every service'],
  ['/api/x402/requests', 'recent paid calls and what became of them'],
  ['/agents', 'the catalogue for people'],
  ['/llms-full.txt', 'this document with every service, its price and an example'],
]

function section({ chain, market }: NodeApi, baseUrl: string, listing: Listing): readonly string[] {
  const { name, serviceId, description, capability, requestFormat, example, available, unavailableReason } =
    listing.entry
  const format = requestFormat === '' ? 'optional context; may be empty' : escapeMarkdown(requestFormat)
  return [
    `### ${escapeMarkdown(name)}`,
    '',
    escapeMarkdown(description),
    '',
    `- Id: ${markdownCode(serviceId)}, capability ${markdownCode(capability)}`,
    `- Price: ${escapeMarkdown(priceLine(chain, market as MarketApi, listing))}`,
    `- State: ${available ? 'available' : `unavailable: ${escapeMarkdown(unavailableReason ?? '')}`}`,
    `- Request: ${format}`,
    `- Sample of the result, free: ${urlInText(`${baseUrl}/services/${serviceId}/example`)}`,
    '',
    '```sh',
    curlQuote({ baseUrl: urlInText(baseUrl), serviceId, request: example, network: chain.ruleBook.params.name }),
    '```',
    '',
  ]
}
