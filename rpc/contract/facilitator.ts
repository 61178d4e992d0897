import { orNull } from './amounts.ts'
import { TRANSACTION_JSON } from './chain.ts'
import { ADDRESS_TEXT, COUNT, HEIGHT, HEX, HEX_32, MOMENT, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

const FIELDS = Type.Record(Type.String(), Type.Unknown())

/** Only the outer shape is checked: a bad payment gets a verdict, not a refusal. */
const BODY = Type.Object(
  { x402Version: Type.Integer(), paymentPayload: FIELDS, paymentRequirements: FIELDS },
  { additionalProperties: true },
)

const VERIFIED = Type.Object({
  isValid: Type.Boolean(),
  invalidReason: Type.Optional(Type.String({ pattern: '^[a-z0-9_]+$' })),
  invalidMessage: Type.Optional(Type.String()),
  payer: Type.Optional(ADDRESS_TEXT),
  extra: Type.Optional(FIELDS),
})

/** A receipt transaction to sign, and the message that the signatures cover. */
const UNSIGNED = Type.Object({
  txId: HEX_32,
  transaction: TRANSACTION_JSON,
  body: HEX,
  signing: Type.Object({ message: HEX, context: HEX }),
})

const SETTLED_EXTRA = Type.Object({
  replayed: Type.Boolean(),
  record: Type.Object({
    agentId: Type.String(),
    serviceId: Type.String(),
    settler: ADDRESS_TEXT,
    outcome: Type.Union([Type.Literal('delivered'), Type.Literal('failed')]),
    requestHash: HEX_32,
    resultHash: HEX_32,
    durationMs: COUNT,
    deadline: HEIGHT,
    recordedAt: MOMENT,
  }),
  receipt: Type.Object({
    status: Type.Unsafe<'owed' | 'waiting' | 'delivered' | 'failed' | 'expired' | 'adrift'>({
      type: 'string',
      enum: ['owed', 'waiting', 'delivered', 'failed', 'expired', 'adrift'],
    }),
    txId: orNull(HEX_32),
  }),
  receiptTransaction: orNull(UNSIGNED),
})

const SETTLED = Type.Object({
  success: Type.Boolean(),
  transaction: Type.String({ description: 'Id of the payment; empty where none was named' }),
  network: Type.String(),
  payer: Type.Optional(ADDRESS_TEXT),
  amount: Type.Optional(UINT_TEXT),
  errorReason: Type.Optional(Type.String({ pattern: '^[a-z0-9_]+$' })),
  errorMessage: Type.Optional(Type.String()),
  extra: Type.Optional(Type.Union([SETTLED_EXTRA, FIELDS])),
})

const SUPPORTED = Type.Object({
  kinds: Type.Array(
    Type.Object({ x402Version: Type.Integer(), scheme: Type.String(), network: Type.String(), extra: FIELDS }),
  ),
  extensions: Type.Array(Type.String()),
  signers: Type.Record(Type.String(), Type.Array(Type.String())),
})

const OFFER = Type.Object({
  agentId: Type.String(),
  serviceId: Type.String(),
  height: HEIGHT,
  available: Type.Boolean(),
  unavailableReason: Type.Optional(Type.String()),
  v1: orNull(FIELDS),
  v2: orNull(FIELDS),
})

/** The node as x402 facilitator of the native coin, for every seller. */
export const FACILITATOR_ROUTES = {
  getFacilitatorKinds: {
    method: 'GET',
    path: '/facilitator/supported',
    operationId: 'getFacilitatorKinds',
    tag: 'market',
    summary: 'What this facilitator verifies and settles',
    answers: { 200: { description: 'Scheme and network, for each generation of x402', schema: SUPPORTED } },
    errors: ['facilitator/off'],
    bucket: 'read',
  },
  verifyPayment: {
    method: 'POST',
    path: '/facilitator/verify',
    operationId: 'verifyPayment',
    tag: 'market',
    summary: "Whether a payment to any agent of the chain may be taken by that agent's server",
    description:
      'x402 facilitator form, either generation. `payTo` is the id of a registered agent, or its payout address with `extra.agentId`; `extra.serviceId` is needed. Nothing is consumed: the seller claims the payment in a store of its own before it works. A negative answer has status 200; `invalidReason` is a code of docs/errors.md.',
    body: BODY,
    answers: { 200: { description: 'The verdict', schema: VERIFIED } },
    errors: ['facilitator/off'],
    bucket: 'quote',
  },
  settlePayment: {
    method: 'POST',
    path: '/facilitator/settle',
    operationId: 'settlePayment',
    tag: 'market',
    summary: "Records how a paid call ended, and writes the receipt that the seller's settler signs",
    description:
      'Takes the body of `/facilitator/verify` with `settlement` {settler, outcome, requestHash, resultHash, durationMs, signature, keys} in `paymentPayload.payload` or `paymentRequirements.extra`: the settler signs the text `farthing facilitator settle <txId> <requestHash>`. The first record of a payment stays. `extra.receiptTransaction` is unsigned: money moves when it is signed and posted to `/api/v1/tx`.',
    body: BODY,
    answers: { 200: { description: 'The record, or why there is none', schema: SETTLED } },
    errors: ['facilitator/off'],
    bucket: 'quote',
  },
  getFacilitatorOffer: {
    method: 'GET',
    path: '/facilitator/offers/{agentId}/{serviceId}',
    operationId: 'getFacilitatorOffer',
    tag: 'market',
    summary: "What a server answers with 402 for a service that any agent has published, at the chain's price",
    params: Type.Object({
      agentId: Type.String({ pattern: '^[a-z0-9-]{3,32}$' }),
      serviceId: Type.String({ pattern: '^[a-z0-9-]{4,48}$' }),
    }),
    query: Type.Object(
      {
        resource: Type.Optional(Type.String({ maxLength: 2_048, description: 'URL of the call, for generation 1' })),
        maxTimeoutSeconds: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 86_400, default: 60, description: 'Time that the seller needs' }),
        ),
      },
      { additionalProperties: false },
    ),
    answers: { 200: { description: 'The offer in the form of each generation; null without a price', schema: OFFER } },
    errors: ['facilitator/off', 'rpc/agent-not-found', 'facilitator/service'],
    bucket: 'quote',
  },
} as const satisfies Record<string, Route>
