import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import { CHAT_REPORT } from './chat-report.ts'
import type { Route } from './route.ts'
import * as Type from './schema.ts'

/** Maximum bytes of a chat request, which may contain pictures. */
export const CHAT_BODY_BYTES_MAX = 20 * 1_048_576

const MODEL_ID = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) })

/** Error envelope of the OpenAI interface. */
export const CHAT_ERROR = Type.Object({
  error: Type.Object({
    message: Type.String(),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.String(),
  }),
})

const OPEN = { additionalProperties: true }
const ONE_CALL = 'Only where one call answers: of model-1, and with tools or a response_format'

const MESSAGE = Type.Object(
  {
    role: Type.Union(['system', 'developer', 'user', 'assistant', 'tool'].map((role) => Type.Literal(role))),
    content: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }, OPEN)), Type.Null()]),
    ),
  },
  OPEN,
)

/** Body of a chat request. */
export const CHAT_BODY = Type.Object(
  {
    model: Type.String({ description: 'model-1, model-2, model-3 or model-4' }),
    messages: Type.Array(MESSAGE, { minItems: 1 }),
    stream: Type.Optional(Type.Boolean()),
    stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) }, OPEN)),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    max_completion_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
    tools: Type.Optional(
      Type.Array(Type.Object({}, OPEN), { description: 'With tools one model answers, and nothing is touched' }),
    ),
    response_format: Type.Optional(Type.Object({ type: Type.String() }, OPEN)),
    n: Type.Optional(Type.Integer({ minimum: 1, maximum: 8, description: ONE_CALL })),
    logprobs: Type.Optional(Type.Boolean({ description: ONE_CALL })),
    seed: Type.Optional(Type.Integer({ description: ONE_CALL })),
  },
  OPEN,
)

/** Tokens that a chat used. */
export const USAGE = Type.Object({
  prompt_tokens: Type.Integer({ minimum: 0 }),
  completion_tokens: Type.Integer({ minimum: 0 }),
  total_tokens: Type.Integer({ minimum: 0 }),
})

/** A chat answer that is not streamed. */
export const COMPLETION = Type.Object({
  id: Type.String(),
  object: Type.Literal('chat.completion'),
  created: Type.Integer(),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0 }),
      message: Type.Object(
        { role: Type.Literal('assistant'), content: Type.Union([Type.String(), Type.Null()]) },
        OPEN,
      ),
      logprobs: Type.Unknown(),
      finish_reason: Type.String(),
    }),
  ),
  usage: USAGE,
  x_platform: CHAT_REPORT,
})

/** A model as the OpenAI interface lists it. */
export const CHAT_MODEL = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer(),
  owned_by: Type.String(),
  x_platform: Type.Object({ available: Type.Boolean() }, OPEN),
})

/** Faults with which a chat can end, beside those of its API key. */
export const CHAT_WORK_ERRORS = [
  'chat/invalid-request',
  'chat/unsupported',
  'chat/model-not-found',
  'chat/model-elsewhere',
  'chat/context-length',
  'chat/refused',
  'chat/schema',
  'chat/aborted',
  'chat/window-full',
  'chat/upstream',
  'chat/no-backend',
  'chat/stopping',
  'chat/timeout',
] as const satisfies readonly FaultCode[]

const RAIL_QUERY = Type.Object(
  {
    rail: Type.Optional(
      Type.Unsafe<'tab'>({
        type: 'string',
        enum: ['tab'],
        description: 'Asks what the chat costs on a tab, without a key',
      }),
    ),
  },
  OPEN,
)

const completion = {
  method: 'POST',
  tag: 'chat',
  summary: 'Answer a chat',
  description:
    'OpenAI-compatible. `x_platform` tells which stages ran, with which models. With `stream` the answer is server-sent events, ended by `data: [DONE]`; one that breaks off has an event with an `error` in place of that. Paid with an API key of the node, or from a tab with the header `PAYMENT-SIGNATURE`: then `x_payment` of the answer, or of the last piece with a choice, has the receipt.',
  body: CHAT_BODY,
  answers: { 200: { description: 'The answer', schema: COMPLETION, alsoAs: 'text/event-stream' } },
  query: RAIL_QUERY,
  isOpenAi: true,
  needsKey: true,
  takesTabs: true,
  bodyBytesMax: CHAT_BODY_BYTES_MAX,
  errors: CHAT_WORK_ERRORS,
  bucket: 'chat',
} as const

const models = {
  method: 'GET',
  tag: 'chat',
  summary: 'List the models of the platform',
  answers: {
    200: {
      description: 'All models; those that cannot answer now say why',
      schema: Type.Object({ object: Type.Literal('list'), data: Type.Array(CHAT_MODEL) }),
    },
  },
  isOpenAi: true,
  errors: ['chat/off'],
  bucket: 'read',
} as const

const model = {
  method: 'GET',
  tag: 'chat',
  summary: 'Show a model of the platform',
  params: MODEL_ID,
  answers: { 200: { description: 'The model', schema: CHAT_MODEL } },
  isOpenAi: true,
  errors: ['chat/off', 'chat/model-not-found'],
  bucket: 'read',
} as const

/** Many clients of the OpenAI interface can only use paths without `/api`. */
export const CHAT_ROUTES = {
  createChatCompletion: { ...completion, path: '/api/v1/chat/completions', operationId: 'createChatCompletion' },
  createChatCompletionAlias: { ...completion, path: '/v1/chat/completions', operationId: 'createChatCompletionAlias' },
  listChatModels: { ...models, path: '/api/v1/models', operationId: 'listChatModels' },
  listChatModelsAlias: { ...models, path: '/v1/models', operationId: 'listChatModelsAlias' },
  getChatModel: { ...model, path: '/api/v1/models/{id}', operationId: 'getChatModel' },
  getChatModelAlias: { ...model, path: '/v1/models/{id}', operationId: 'getChatModelAlias' },
} as const satisfies Record<string, Route>
