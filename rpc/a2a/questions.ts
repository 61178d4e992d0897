import type { RegistryEntry } from '../contract/market.ts'
import { matching } from '../discovery/listings.ts'
import { registryEntries, suggestions } from '../market/registry.ts'
import type { MarketApi } from '../node/node-api.ts'
import type { A2aPlace } from './sayings.ts'
import type { Said } from './tasks.ts'

const SHOWN_MAX = 8
/** Characters of a question that are read. */
export const ASKED_CHARS_MAX = 200

/** The answer to a message that names no service: the services that fit or, if none fits, some that can be bought. */
export function answerQuestion({ node, market, request }: A2aPlace, text: string): Said & { readonly data: object } {
  const asked = text.slice(0, ASKED_CHARS_MAX).trim()
  const entries = registryEntries(node, request.baseUrl)
  const [mistyped = ''] = /^node-\S*/i.exec(asked) ?? []
  const near = mistyped === '' ? [] : suggestions(market, mistyped)
  const ranked = asked === '' ? [] : matching(node, entries, (entry) => entry, { q: asked })
  const spelledAlike = entries.filter(({ serviceId }) => near.includes(serviceId))
  const found = [...new Set([...spelledAlike, ...ranked])].slice(0, SHOWN_MAX)
  const shown = found.length > 0 ? found : entries.filter(({ available }) => available).slice(0, SHOWN_MAX)
  const none = asked === '' ? 'Some of what is sold here:' : 'Nothing fits these words. Some of what is sold here:'
  const head = found.length > 0 ? 'Services that may do:' : none
  return { text: spoken(market, head, shown), metadata: {}, data: { services: shown.map(factsOf) } }
}

function factsOf({ unavailableReason, ...entry }: RegistryEntry): object {
  const { serviceId, name, description, priceUsd, requestFormat, example, available } = entry
  const facts = { serviceId, name, description, priceUsd, requestFormat, example, available }
  return unavailableReason === undefined ? facts : { ...facts, unavailableReason }
}

function spoken({ shop }: MarketApi, head: string, shown: readonly RegistryEntry[]): string {
  const lineOf = ({ serviceId, priceUsd }: RegistryEntry): string =>
    `${serviceId}: ${shop.offer(serviceId)?.definition.brief} $${priceUsd}`
  const open = shown.filter(({ available }) => available)
  const closed = shown.filter(({ available }) => !available)
  const how = 'To call one, send "<serviceId> <request>" or a data part {"serviceId", "request"}.'
  const buyable = open.length === 0 ? ['Nothing that fits can be bought now.'] : [head, ...open.map(lineOf), how]
  if (closed.length === 0) return buyable.join('\n')
  const why = closed.map((entry) => `${lineOf(entry)} Why not: ${entry.unavailableReason}`)
  return [...buyable, 'Cannot be bought now:', ...why].join('\n')
}
