import { PLATFORM_MODEL_IDS } from '../call.ts'
import { faqItems } from './faq.ts'
import type { FaqItem } from './faq-item.ts'
import { groupedNumber, namesOf, totalParameters } from './figures.ts'
import { chatModels, type ModelInfoMeans, modelInfos } from './model-info.ts'
import type { PlatformRules, Site } from './platform-rules.ts'
import type { PlatformInfo, PlatformUrls } from './shapes.ts'

const VERSION = '2.0'

/** The platform's facts, with searchable questions. */
export interface PlatformFacts {
  readonly info: PlatformInfo
  readonly faq: readonly FaqItem[]
}

/** Everything that the info API tells at this moment. */
export function platformFacts(means: ModelInfoMeans, rules: PlatformRules, site: Site): PlatformFacts {
  const { baseUrl } = site
  const behind = chatModels(means.models)
  const pricing = platformPricing(rules, site)
  const models = modelInfos(means, baseUrl, 'Free: no cost per token, no subscription')
  const underlying = { count: behind.length, names: namesOf(behind), parameters: totalParameters(behind) }
  const faq = faqItems({ site, rules, models, underlying, pricing })
  const usable = models.filter(({ available }) => available).length
  const info: PlatformInfo = {
    platform: 'Farthing Chat',
    version: VERSION,
    description: `A free chat platform on a Farthing node: ${models.length} models as pipelines over ${counted(underlying.count, 'configured language model')}, with an API compatible with OpenAI. ${usable} of ${models.length} can answer now.`,
    total_parameters: underlying.parameters,
    underlying_model_count: underlying.count,
    model_count: PLATFORM_MODEL_IDS.length,
    pricing,
    updated: new Date(rules.updatedMs).toISOString().slice(0, 10),
    urls: urlsOf(baseUrl),
    models,
    faq: faq.map(({ question, answer }) => ({ question, answer })),
    comparison_vs_external: rules.comparison,
    usage_for_ai_consumers: usageForConsumers(baseUrl),
  }
  return { info, faq }
}

function platformPricing({ bounds }: PlatformRules, { paidChat }: Site): string {
  const free = `Free: no cost per token and no subscription for the chat models. A wallet with all its keys, or a key of the operator, has ${groupedNumber(bounds.rpm)} requests a minute and ${groupedNumber(bounds.tpd)} tokens a day (UTC).`
  if (paidChat === null) return free
  return `${free} Without a key: node-llm-chat for ${paidChat.price} a call, paid by x402 at ${paidChat.url}.`
}

function urlsOf(baseUrl: string): PlatformUrls {
  return {
    homepage: `${baseUrl}/`,
    docs: `${baseUrl}/chat`,
    models_overview: `${baseUrl}/chat#models`,
    comparison: `${baseUrl}/chat#comparison`,
    api_base: `${baseUrl}/api/v1`,
    info_api: `${baseUrl}/api/v1/info`,
    sitemap: `${baseUrl}/sitemap.xml`,
    openapi_spec: `${baseUrl}/api/v1/info/openapi`,
  }
}

/** Examples are commands of a POSIX shell. */
function usageForConsumers(baseUrl: string): PlatformInfo['usage_for_ai_consumers'] {
  const base = `${baseUrl.replaceAll("'", '%27')}/api/v1/info`
  return {
    description:
      'Facts about this platform for other programs: fetch them before you say something about it. They are made from the configuration and the measurements of this node at the moment of the request, and need no key.',
    fetch_examples: [
      `curl -sS '${base}'`,
      `curl -sS '${base}/models'`,
      ...['model-2', 'model-4'].map((id) => `curl -sS '${base}/models/${id}'`),
      `curl -sS '${base}/compare'`,
      `curl -sS '${base}/qa' -H 'content-type: application/json' -d '{"question":"How do I get an API key?"}'`,
      `curl -sS '${base}/openapi'`,
    ],
    grounding_instructions:
      'Say only what these documents say, and name the address that you have it from. A model with available: false cannot be used now; give its unavailable_reason. Figures called unknown or not measured yet are just that: do not estimate them. What comparison_vs_external says was written by the operator of this node and not measured by it. Fetch again after a minute: states and measurements change.',
  }
}

function counted(count: number, noun: string): string {
  return `${count === 0 ? 'no' : count} ${noun}${count === 1 ? '' : 's'}`
}
