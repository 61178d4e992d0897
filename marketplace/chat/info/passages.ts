import { type FindableParts, termsOf } from '../../queries/bm25.ts'
import type { PlatformFacts } from './platform-info.ts'
import type { PaidService, Site } from './platform-rules.ts'
import { COMPARISON_FIELDS, type ModelInfo, type ProductFacts } from './shapes.ts'

/** A text with facts, and where to look them up. */
export interface Passage {
  /** A few words, which count double in a search. */
  readonly heading: string
  readonly text: string
  /** Further words that find the passage. */
  readonly words?: string
  readonly title: string
  readonly url: string
}

/** The weighted texts by which a passage is found. */
export function passageParts({ heading, words = '', text }: Passage): FindableParts {
  return [
    [2, heading],
    [1, words],
    [1, text],
  ]
}

/** The passages about the platform, to answer questions from: FAQ, models, platform, and the operator's product comparison. */
export function passagesOf({ info, faq }: PlatformFacts): readonly Passage[] {
  const { docs, models_overview: overview, comparison, info_api: infoApi } = info.urls
  const asked = faq.map(({ id, question, answer, words }) => ({
    ...{ heading: question, text: answer, words },
    ...{ title: question, url: `${docs}#faq-${id}` },
  }))
  const platform: Passage = {
    heading: 'Platform facts',
    title: `${info.platform} ${info.version}`,
    url: infoApi,
    text: `${info.description} Parameters in total: ${info.total_parameters}. Underlying models: ${info.underlying_model_count}. Last change of the configuration: ${info.updated}. ${info.pricing}`,
    words: 'version updated total parameter count underlying',
  }
  const others = Object.entries(info.comparison_vs_external).map(([product, facts]) => ({
    ...{
      heading: product,
      text: productText(product, facts),
      words: 'compare comparison versus vs external competitor alternative',
    },
    ...{ title: `Comparison: ${product}`, url: comparison },
  }))
  return [...asked, ...info.models.map((model) => modelPassage(model, overview)), platform, ...others]
}

function modelPassage(model: ModelInfo, overview: string): Passage {
  const { id, name, tagline, speed, parameters, powered_by: behind, context_window: size, best_for: uses } = model
  const state = model.available ? 'It can answer now.' : `It cannot answer now: ${model.unavailable_reason}.`
  const can = model.capabilities.length === 0 ? '' : ` It can: ${model.capabilities.join('; ')}.`
  return {
    heading: `${id} ${name}`,
    title: `${id}: ${tagline}`,
    url: overview.replace('#models', `#${id}`),
    text: `${id}: ${tagline}. ${state} Speed: ${speed}. Context window: ${size}. Powered by ${behind}; parameters: ${parameters}. Good for: ${uses.join(', ')}.${can} Stages: ${model.pipeline.join(', ')}. Limits: ${model.limitations.join('; ')}.`,
    words: 'pipeline stages steps',
  }
}

function productText(product: string, facts: ProductFacts): string {
  const said = COMPARISON_FIELDS.map((field) => `${field.replace('_', ' ')}: ${facts[field]}`).join('; ')
  return `${product}, in the words of this node’s operator: ${said}.`
}

const BUYING = /\b(?:services?|prices?|priced|costs?|pay|paid|free|charged?|fees?|buy|sell|sold|call)\b|how much/i

/** Passages on paid services that the question names by id, or by name if it is about buying. */
export function servicePassages(question: string, { services, baseUrl }: Site): readonly Passage[] {
  const asked = new Set(termsOf(question))
  const isBuying = BUYING.test(question)
  const isNamed = ({ serviceId, name }: PaidService): boolean =>
    new RegExp(`\\b${serviceId}(?![\\w-])`, 'i').test(question) ||
    (isBuying && termsOf(name).every((term) => asked.has(term)))
  return services.filter(isNamed).map(({ serviceId, name, brief, price, reason }) => ({
    heading: `${serviceId} ${name}`,
    title: `Paid service: ${name}`,
    url: `${baseUrl}/agents/${serviceId}`,
    text: `${serviceId} is a paid service, not free: ${price} a call, paid by x402 at ${baseUrl}/api/x402/${serviceId}. ${brief}${reason === null ? '' : ` It cannot be bought now: ${reason}.`}`,
    words: 'price cost costs how much pay paid free charge fee buy sell service call',
  }))
}
