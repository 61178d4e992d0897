import { matching } from '../discovery/listings.ts'
import { suggestions } from '../handlers/market.ts'
import { registryEntries } from '../registry.ts'
import type { A2aPlace } from './sayings.ts'
import type { Said } from './tasks.ts'

const SHOWN_MAX = 8
/** What of a question is looked at. */
export const ASKED_CHARS_MAX = 200

/** Answers a message that names no service: with the services that its words fit, or else with some to begin with. */
export function answerQuestion({ node, market, request }: A2aPlace, text: string): Said & { readonly data: object } {
  const asked = text.slice(0, ASKED_CHARS_MAX)
  const entries = registryEntries(node, request.baseUrl)
  const meant = new Set(suggestions(market, asked))
  const exact = matching(entries, (entry) => entry, { q: asked })
  const near = entries.filter(({ serviceId }) => meant.has(serviceId))
  const found = [...new Set([...exact, ...near])].slice(0, SHOWN_MAX)
  const shown = found.length > 0 ? found : entries.filter(({ available }) => available).slice(0, SHOWN_MAX)
  const services = shown.map(({ serviceId, name, description, priceUsd, requestFormat, example, available }) => {
    return { serviceId, name, description, priceUsd, requestFormat, example, available }
  })
  const lines = services.map(({ serviceId, description, priceUsd }) => `${serviceId}: ${description} $${priceUsd}`)
  const head = found.length > 0 ? 'Services that may do:' : 'Nothing fits these words. Some of what is sold here:'
  const how = 'To call one, send "<serviceId> <request>" or a data part {"serviceId", "request"}.'
  return { text: [head, ...lines, how].join('\n'), metadata: {}, data: { services } }
}
