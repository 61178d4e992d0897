import type { FaqFacts, FaqItem } from './faq-item.ts'

/** Questions about the API. */
export function aboutCalls({ site, models }: FaqFacts): readonly FaqItem[] {
  const { baseUrl } = site
  const windows = models.map(({ id, context_window: size }) => `${id}: ${size}`).join('; ')
  return [
    {
      id: 'call',
      question: 'How do I call it?',
      answer: `POST ${baseUrl}/api/v1/chat/completions with a model and messages, as with OpenAI. In an OpenAI SDK set the base URL to ${baseUrl}/api/v1 and the API key to yours. Examples: ${baseUrl}/chat#call`,
      words:
        'use using endpoint curl http request example sdk openai compatible python javascript base url base_url client library integrate api documentation docs start started begin tutorial',
    },
    {
      id: 'streaming',
      question: 'Does it stream?',
      answer:
        'Yes: with “stream”: true the answer comes as server-sent events in the shape of OpenAI, ended by “data: [DONE]”; stream_options.include_usage adds the usage. A stream that breaks off says so in an event with an error. Of several stages the last that writes is the one that streams.',
      words: 'stream streaming sse server-sent events chunks partial tokens realtime incremental',
    },
    {
      id: 'context',
      question: 'How long may a conversation be?',
      answer: `${windows}. What does not fit is answered 400 context_length_exceeded; model-4 summarises older turns first. Nothing is remembered between requests: send the whole conversation each time.`,
      words:
        'context window length tokens long conversation history size memory remember said before earlier previous compress compression',
    },
    {
      id: 'errors',
      question: 'How are errors told?',
      answer:
        'Chat: {"error":{message, type, param, code}} as OpenAI has it: 400 for the request, 401 invalid_api_key, 404 model_not_found, 429 rate_limit_exceeded with Retry-After, 502 upstream_error, 503 no_backend_available, 504 upstream_timeout. The info API: {"error", "code", "requestId", "details"}. Every answer has the header x-request-id.',
      words: 'error failure fail status code retry 400 401 404 500 502 503 504 exception problem requestid',
    },
  ]
}

/** Questions about paid services and machine-readable documents. */
export function aboutMarket({ site }: FaqFacts): readonly FaqItem[] {
  const { baseUrl, paidChat, servicesOnSale } = site
  const paid =
    paidChat === null
      ? 'Paid chat (node-llm-chat) is not for sale here at the moment.'
      : `Yes: node-llm-chat answers a single question for ${paidChat.price}, at ${paidChat.url}, over the same models.`
  const sells =
    servicesOnSale === 0
      ? 'This node sells no services at the moment.'
      : `This node sells ${servicesOnSale} services: ${baseUrl}/agents`
  return [
    {
      id: 'paid',
      question: 'Can I pay instead of getting a key?',
      answer: `${paid} ${sells}`,
      words: 'pay paid payment without key anonymous node-llm-chat buy purchase services sell market',
    },
    {
      id: 'x402',
      question: 'What is x402?',
      answer: `A way to pay for calls over plain HTTP: a call without payment is answered 402 with the exact price, and is repeated with the payment. No account and no key; a call that fails is refunded. The protocol of this node: ${baseUrl}/.well-known/x402`,
      words: 'x402 402 payment protocol crypto coin stablecoin usdc agent agents http refund',
    },
    {
      id: 'machines',
      question: 'How does a program learn about this platform?',
      answer: `GET ${baseUrl}/api/v1/info gives everything as JSON; /info/models, /info/models/{id} and /info/compare parts of it; POST /info/qa answers questions from it; ${baseUrl}/openapi.json describes the whole API. None needs a key.`,
      words: 'info api machine readable json openapi specification llms.txt discover discovery ai consumers',
    },
  ]
}
