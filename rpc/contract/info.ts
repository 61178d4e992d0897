import { COMPARISON_FIELDS, QUESTION_CHARS_MAX } from '../../marketplace/chat/info/shapes.ts'
import { COUNT, type Route } from './route.ts'
import * as Type from './schema.ts'

const TEXT = Type.String()
const TEXTS = Type.Array(TEXT)
const ADDRESS = Type.String({ format: 'uri' })

const MEASURED = Type.Union([Type.Object({ count: COUNT, p50_ms: COUNT, p95_ms: COUNT }), Type.Null()], {
  description: 'Times of the last 24 hours; null where nothing was answered',
})

/** A model of the platform: the fields of the public chat interface, then fields that this node adds. */
export const CHAT_MODEL_INFO = Type.Object({
  id: TEXT,
  name: TEXT,
  tagline: TEXT,
  speed: TEXT,
  parameters: TEXT,
  powered_by: TEXT,
  context_window: TEXT,
  pricing: TEXT,
  best_for: TEXTS,
  pipeline: TEXTS,
  capabilities: TEXTS,
  limitations: TEXTS,
  how_it_works: TEXT,
  info_url: ADDRESS,
  available: Type.Boolean(),
  unavailable_reason: Type.Optional(TEXT),
  requires: Type.Optional(Type.Array(TEXT, { description: 'Settings of the node that would change that' })),
  measured: MEASURED,
  tiers: Type.Optional(
    Type.Array(
      Type.Object({
        tier: TEXT,
        budget_ms: Type.Object({ from: COUNT, to: COUNT }, { description: 'What is aimed at, not what was measured' }),
        measured: MEASURED,
      }),
    ),
  ),
})

const COMPARISON = Type.Record(
  Type.String(),
  Type.Object(Object.fromEntries(COMPARISON_FIELDS.map((field) => [field, TEXT]))),
  { description: 'What the operator of this node says of other products; it has measured none of it' },
)

/** The platform. */
export const CHAT_PLATFORM_INFO = Type.Object({
  platform: TEXT,
  version: Type.Literal('2.0'),
  description: TEXT,
  total_parameters: TEXT,
  underlying_model_count: COUNT,
  model_count: COUNT,
  pricing: TEXT,
  updated: Type.String({ format: 'date' }),
  urls: Type.Object({
    homepage: ADDRESS,
    docs: ADDRESS,
    models_overview: ADDRESS,
    comparison: ADDRESS,
    api_base: ADDRESS,
    info_api: ADDRESS,
    sitemap: ADDRESS,
    openapi_spec: ADDRESS,
  }),
  models: Type.Array(CHAT_MODEL_INFO),
  faq: Type.Array(Type.Object({ question: TEXT, answer: TEXT })),
  comparison_vs_external: COMPARISON,
  usage_for_ai_consumers: Type.Object({ description: TEXT, fetch_examples: TEXTS, grounding_instructions: TEXT }),
})

const COMPARED = Type.Pick(CHAT_MODEL_INFO, [
  ...(['id', 'name', 'speed', 'parameters', 'powered_by', 'context_window', 'pricing'] as const),
  ...(['best_for', 'capabilities', 'limitations', 'available', 'measured', 'info_url'] as const),
])

const QA_BODY = Type.Object(
  { question: Type.String({ minLength: 1, maxLength: QUESTION_CHARS_MAX }) },
  { additionalProperties: false },
)

const QA_ANSWER = Type.Object({
  question: TEXT,
  answer: TEXT,
  sources: Type.Array(Type.Object({ title: TEXT, url: ADDRESS }), {
    description: 'Sources of the answer. Empty if nothing is known',
  }),
  confidence: Type.Number({ minimum: 0, maximum: 1, description: 'Share of the question that the sources are about' }),
  answered_by: Type.String({ description: '`retrieval`, or the model that worded the answer from the sources' }),
})

/** Facts about the chat platform, open without a key. */
export const INFO_ROUTES = {
  getApiIndex: {
    method: 'GET',
    path: '/api/v1',
    operationId: 'getApiIndex',
    tag: 'operations',
    summary: 'What there is at this address',
    answers: {
      200: {
        description: 'Links to the documents',
        schema: Type.Object({ name: TEXT, version: TEXT, documents: Type.Record(Type.String(), ADDRESS) }),
      },
    },
    isDocument: true,
    bucket: 'read',
  },
  getChatInfo: {
    method: 'GET',
    path: '/api/v1/info',
    operationId: 'getChatInfo',
    tag: 'chat',
    summary: 'Everything about the chat platform of this node',
    description: 'Figures come from the configuration and from measurements; what is not known is called unknown.',
    answers: { 200: { description: 'The platform', schema: CHAT_PLATFORM_INFO } },
    isDocument: true,
    errors: ['chat/off'],
    bucket: 'read',
  },
  listChatModelInfos: {
    method: 'GET',
    path: '/api/v1/info/models',
    operationId: 'listChatModelInfos',
    tag: 'chat',
    summary: 'Facts about the models of the platform',
    answers: {
      200: { description: 'All of them', schema: Type.Object({ models: Type.Array(CHAT_MODEL_INFO) }) },
    },
    isDocument: true,
    errors: ['chat/off'],
    bucket: 'read',
  },
  getChatModelInfo: {
    method: 'GET',
    path: '/api/v1/info/models/{id}',
    operationId: 'getChatModelInfo',
    tag: 'chat',
    summary: 'Facts about one model of the platform',
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) }),
    answers: { 200: { description: 'The model', schema: CHAT_MODEL_INFO } },
    isDocument: true,
    errors: ['chat/off', 'chat/model-not-found'],
    bucket: 'read',
  },
  getChatComparison: {
    method: 'GET',
    path: '/api/v1/info/compare',
    operationId: 'getChatComparison',
    tag: 'chat',
    summary: 'The models side by side, and what the operator says of other products',
    answers: {
      200: {
        description: 'The comparison',
        schema: Type.Object({ comparison_vs_external: COMPARISON, models: Type.Array(COMPARED) }),
      },
    },
    isDocument: true,
    errors: ['chat/off'],
    bucket: 'read',
  },
  getInfoOpenApi: {
    method: 'GET',
    path: '/api/v1/info/openapi',
    operationId: 'getInfoOpenApi',
    tag: 'chat',
    summary: 'The document of the API, as at /openapi.json',
    answers: {
      200: {
        description: 'The OpenAPI 3.1 document of this API',
        schema: Type.Object({ openapi: TEXT }, { additionalProperties: true }),
      },
    },
    isDocument: true,
    bucket: 'read',
  },
  askChatInfo: {
    method: 'POST',
    path: '/api/v1/info/qa',
    operationId: 'askChatInfo',
    tag: 'chat',
    summary: 'Answer a question about the platform',
    description:
      'From the facts of this node alone, with sources; without any and with confidence 0 where it does not know. Works without a model.',
    body: QA_BODY,
    answers: { 200: { description: 'The answer', schema: QA_ANSWER } },
    errors: ['chat/off'],
    bucket: 'chat',
  },
  getChatPage: {
    method: 'GET',
    path: '/chat',
    operationId: 'getChatPage',
    tag: 'chat',
    summary: 'The chat platform for people',
    description: 'Made by the server, works without scripts.',
    answers: {
      200: { description: 'The page', contentType: 'text/html' },
      404: { description: 'A page that says that this node has no chat platform', contentType: 'text/html' },
    },
    isDocument: true,
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
