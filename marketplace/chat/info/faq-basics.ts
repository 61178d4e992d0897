import type { FaqFacts, FaqItem } from './faq-item.ts'
import { groupedNumber } from './figures.ts'
import type { Site } from './platform-rules.ts'

/** The default name of a node. */
const UNNAMED = 'Farthing node'

/** Questions about the platform and its models. */
export function aboutPlatform({ site, models, underlying }: FaqFacts): readonly FaqItem[] {
  const { baseUrl, operator } = site
  const usable = models.filter(({ available }) => available)
  const off = models.filter(({ available }) => !available)
  const offText = off.map(({ id, unavailable_reason: reason }) => `${id}: ${reason}`).join('; ')
  const whose = operator === '' || operator === UNNAMED ? 'on a Farthing node' : `on the Farthing node of ${operator}`
  const behind =
    underlying.count === 0
      ? 'No model is configured behind them.'
      : `Behind them ${underlying.count === 1 ? 'is 1 model' : `are ${underlying.count} models`} (${underlying.names}), parameters: ${underlying.parameters}.`
  return [
    {
      id: 'what',
      question: 'What is this?',
      answer: `A free chat platform ${whose}: five models over an API that clients of OpenAI speak, and an info API with the facts about it. Each model is a pipeline over the language models that the node’s operator has configured.`,
      words: 'platform purpose farthing chat service about who runs operator owner behind',
    },
    {
      id: 'models',
      question: 'Which models are there?',
      answer: `${models.map(({ id, tagline }) => `${id} (${tagline.charAt(0).toLowerCase()}${tagline.slice(1)})`).join(', ')}. ${behind} Details: ${baseUrl}/api/v1/info/models`,
      words: 'list model ids names choose difference underlying backend llm powered parameters size',
    },
    {
      id: 'available',
      question: 'Which models work right now?',
      answer: `${usable.length === 0 ? 'None can answer at the moment' : `Now: ${usable.map(({ id }) => id).join(', ')}`}. ${off.length === 0 ? 'None is unavailable.' : `Unavailable: ${offText}.`}`,
      words: 'available unavailable availability status online offline down broken ready working',
    },
    {
      id: 'figures',
      question: 'How long does an answer take, and where do the figures come from?',
      answer: `Whole answers: ${models.map(({ id, speed }) => `${id}: ${speed}`).join('. ')}. Numbers of models, parameters and windows are read from the configuration of this node; speeds are measured here over the last 24 hours, and say so where nothing was measured yet. What a tier of model-4 aims at stands beside what was measured.`,
      words:
        'speed latency fast slow quick long wait answer time duration p50 p95 measured measurement honest accurate numbers source benchmark performance seconds',
    },
  ]
}

/** Questions about keys, limits, price and privacy. */
export function aboutKeys({ site, rules, pricing }: FaqFacts): readonly FaqItem[] {
  const { bounds, tokensMax, budgetMs, wallets } = rules
  const signIn = {
    all: 'sign in there with a wallet of any address',
    some: 'sign in there with a wallet whose address the operator has let in',
    none: 'only the operator of this node can sign in there',
  }[wallets]
  const page = site.hasDashboard ? `At ${site.baseUrl}/dashboard: ${signIn}. ` : ''
  return [
    {
      id: 'key',
      question: 'How do I get an API key?',
      answer: `${page}The operator makes keys with “npx --no farthing keys create”. A key is shown once; send it as “Authorization: Bearer KEY”. It is revoked where it was made. The info API needs none.`,
      words:
        'apikey token register signup sign login account create obtain credential authentication authorization bearer dashboard wallet revoke delete lost renew',
    },
    {
      id: 'limits',
      question: 'What are the limits?',
      answer: `For a wallet with all its keys, and for each key of the operator: ${groupedNumber(bounds.rpm)} requests a minute, ${groupedNumber(bounds.tpd)} tokens a day (UTC), ${groupedNumber(bounds.concurrent)} chats at once. A wallet has ${groupedNumber(bounds.keys)} keys at most. An answer has ${groupedNumber(tokensMax)} tokens at most and ${groupedNumber(Math.round(budgetMs / 1_000))} seconds. What is left is told in the headers x-ratelimit-*; what is too much is answered 429 with Retry-After.`,
      words:
        'rate limit quota requests request send minute rpm tpd minute day maximum max_tokens length concurrent throttle 429 timeout',
    },
    {
      id: 'price',
      question: 'What does it cost?',
      answer: `${pricing}${paidServices(site)}`,
      words: 'price pricing cost free pay payment charge fee billing subscription money dollar expensive cheap',
    },
    {
      id: 'privacy',
      question: 'What is logged and kept of my questions?',
      answer:
        'The node writes neither questions nor answers to its disk or its log. It counts requests and tokens for each key, and keeps the time a key was last used. In memory, for a while: summaries of long conversations, so that they need not be made again, and answers of the info API. The servers that run the models see what is asked of them, and follow rules of their own; searches of the web go to the operator’s search provider.',
      words:
        'privacy private data log logged store stored retention retain record personal gdpr train training secret confidential',
    },
  ]
}

/** The services of the node are not free, unlike the chat. Empty if it sells none. */
function paidServices({ baseUrl, servicesOnSale }: Site): string {
  return servicesOnSale === 0
    ? ''
    : ` That is so of the chat alone: the services that this node sells are paid call by call, at ${baseUrl}/agents`
}
