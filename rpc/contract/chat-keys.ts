import { LABEL_CHARS_MAX } from '../../marketplace/chat/keys/key-record.ts'
import { EXPIRY_DAYS_MAX, KEY_RPM_MAX, KEY_TPD_MAX } from '../../marketplace/chat/keys/key-wish.ts'
import { COUNT, MOMENT, NEXT_CURSOR, PAGE_QUERY, type Route } from './route.ts'
import * as Type from './schema.ts'

const MOMENT_OR_NULL = Type.Union([MOMENT, Type.Null()])
const LIMIT = (description: string, maximum: number) =>
  Type.Union([Type.Integer({ minimum: 1, maximum }), Type.Null()], { description })
const RPM = LIMIT('Chats within 60 seconds; null is what its owner may', KEY_RPM_MAX)
const TPD = LIMIT('Tokens of a day (UTC); null is what its owner may', KEY_TPD_MAX)
const EXPIRY = LIMIT('Days until it ends; null is never', EXPIRY_DAYS_MAX)
const LABEL = Type.String({ minLength: 1, maxLength: LABEL_CHARS_MAX })

const KEY_USAGE = Type.Object({ requests: COUNT, promptTokens: COUNT, completionTokens: COUNT })

/** `ApiKey` of the OpenAPI document. */
export const API_KEY = Type.Object({
  id: Type.String({ description: 'The part of the key that is no secret, behind fk-' }),
  label: Type.String(),
  owner: Type.String({ description: 'operator, or the address of the wallet that made it' }),
  state: Type.Union(
    (['live', 'revoked', 'expired', 'lost'] as const).map((state) => Type.Literal(state)),
    { description: 'lost: the secret of the data folder that it was made under is gone' },
  ),
  limits: Type.Object({ rpm: RPM, tpd: TPD }),
  createdAt: MOMENT,
  lastUsedAt: MOMENT_OR_NULL,
  expiresAt: MOMENT_OR_NULL,
  revokedAt: MOMENT_OR_NULL,
  usedToday: KEY_USAGE,
  usedInAll: KEY_USAGE,
})

const KEY_PARAMS = Type.Object({ id: Type.String({ minLength: 1, maxLength: 40 }) })

/** Operations on the API keys of the chat, for the operator. */
export const CHAT_KEY_ROUTES = {
  listKeys: {
    method: 'GET',
    path: '/api/v1/keys',
    operationId: 'listKeys',
    tag: 'chat',
    summary: 'List the API keys of all owners',
    operator: 'required',
    query: PAGE_QUERY,
    answers: {
      200: {
        description: 'Keys, the newest first; never the secrets, which are not kept',
        schema: Type.Object({ keys: Type.Array(API_KEY), nextCursor: NEXT_CURSOR }),
      },
    },
    errors: ['chat/off'],
    bucket: 'list',
  },
  createKey: {
    method: 'POST',
    path: '/api/v1/keys',
    operationId: 'createKey',
    tag: 'chat',
    summary: 'Make an API key of the operator',
    description: 'Only this answer has the key. The node keeps nothing but a seal of it.',
    operator: 'required',
    body: Type.Object(
      {
        label: LABEL,
        rpm: Type.Optional(RPM),
        tpd: Type.Optional(TPD),
        expiresInDays: Type.Optional(EXPIRY),
      },
      { additionalProperties: false },
    ),
    answers: {
      201: {
        description: 'The key, shown this once',
        schema: Type.Object({ key: API_KEY, secret: Type.String({ description: 'What Authorization: Bearer takes' }) }),
      },
    },
    errors: ['chat/off', 'chat/invalid-request', 'chat/keys-full', 'chat/no-room'],
    bucket: 'read',
  },
  changeKey: {
    method: 'POST',
    path: '/api/v1/keys/{id}',
    operationId: 'changeKey',
    tag: 'chat',
    summary: 'Rename an API key, or set its limits',
    description: 'Absent members stay unchanged.',
    operator: 'required',
    params: KEY_PARAMS,
    body: Type.Object(
      { label: Type.Optional(LABEL), rpm: Type.Optional(RPM), tpd: Type.Optional(TPD) },
      { additionalProperties: false },
    ),
    answers: { 200: { description: 'The key as it is now', schema: API_KEY } },
    errors: ['chat/off', 'chat/invalid-request', 'chat/no-key'],
    bucket: 'read',
  },
  revokeKey: {
    method: 'DELETE',
    path: '/api/v1/keys/{id}',
    operationId: 'revokeKey',
    tag: 'chat',
    summary: 'End an API key for good',
    description: 'Takes effect at once. Chats that have begun continue to their end.',
    operator: 'required',
    params: KEY_PARAMS,
    answers: { 200: { description: 'The key as it is now', schema: API_KEY } },
    errors: ['chat/off', 'chat/no-key'],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
