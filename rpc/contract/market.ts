import { CAPABILITY } from './agents.ts'
import { orNull } from './amounts.ts'
import { RECORD } from './reputation.ts'
import {
  ADDRESS_TEXT,
  CLOSED,
  COUNT,
  HEIGHT,
  HEX,
  HEX_32,
  MOMENT,
  NEXT_CURSOR,
  PAGE_QUERY,
  PAYMENT_ID,
  type Route,
  UINT_TEXT,
} from './route.ts'
import type { Static } from './schema.ts'
import * as Type from './schema.ts'
import { CLOSING, TAB_RECEIPT } from './tabs.ts'

const SERVICE_ID = Type.String({ minLength: 1, maxLength: 64 })

/** `secret` opens a locked payment. */
const PAYMENT = Type.Object({ txId: HEX_32, secret: Type.Optional(HEX_32) }, CLOSED)

const CALL_FIELDS = { request: Type.Optional(Type.String({ maxLength: 131_072 })), payment: Type.Optional(PAYMENT) }

/** Body of `POST /api/x402/{serviceId}`. If it names a service, too, that must be the one in the path. */
export const CALL_BODY = Type.Object({ serviceId: Type.Optional(SERVICE_ID), ...CALL_FIELDS }, CLOSED)
/** Body of `POST /api/x402`. */
export const NAMED_CALL_BODY = Type.Object({ serviceId: SERVICE_ID, ...CALL_FIELDS }, CLOSED)

const NET_QUERY = Type.Object(
  {
    net: Type.Optional(Type.String({ maxLength: 20 })),
    rail: Type.Optional(
      Type.Union([Type.Literal('native'), Type.Literal('stable'), Type.Literal('tab'), Type.Literal('channel')]),
    ),
  },
  CLOSED,
)

/** `PaymentOption` of the OpenAPI document. */
export const OPTION = Type.Object(
  {
    scheme: Type.String(),
    network: Type.String(),
    asset: Type.String(),
    payTo: Type.String(),
    maxAmountRequired: Type.String(),
    amount: Type.Number(),
    resource: Type.String(),
    description: Type.String(),
    mimeType: Type.String(),
    maxTimeoutSeconds: Type.Integer({ minimum: 1 }),
    extra: Type.Record(Type.String(), Type.Unknown()),
  },
  { additionalProperties: true },
)

const RAIL = Type.Unsafe<'native' | 'stable'>({ type: 'string', enum: ['native', 'stable'] })
const RAIL_OR_TAB = Type.Unsafe<'native' | 'stable' | 'tab' | 'channel'>({
  type: 'string',
  enum: ['native', 'stable', 'tab', 'channel'],
})

/** `PaymentRequired` of the OpenAPI document. */
export const QUOTE = Type.Object(
  {
    x402: Type.Literal(true),
    x402Version: Type.Literal(1),
    error: Type.String(),
    code: Type.String(),
    requestId: Type.String(),
    serviceId: Type.String(),
    available: Type.Boolean(),
    unavailableReason: Type.Optional(Type.String()),
    requestValid: Type.Optional(Type.Boolean()),
    requestError: Type.Optional(
      Type.Object({ reason: Type.String(), example: Type.String(), requestFormat: Type.String() }),
    ),
    expiresAt: MOMENT,
    accepts: Type.Array(OPTION),
    /** Options that must not be paid now: the service is closed, or the request is unusable. */
    offers: Type.Optional(Type.Array(OPTION)),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: true },
)

/** `Receipt` of the OpenAPI document. */
export const RECEIPT = Type.Object(
  {
    serviceId: Type.String(),
    caller: ADDRESS_TEXT,
    amount: Type.Number(),
    txId: PAYMENT_ID,
    rail: RAIL_OR_TAB,
    asset: Type.String(),
    network: Type.Optional(Type.String()),
    amountBaseUnits: UINT_TEXT,
    blockHeight: Type.Optional(HEIGHT),
    blockHash: Type.Optional(HEX_32),
    resultHash: HEX_32,
    requestHash: HEX_32,
    durationMs: COUNT,
    completedAt: MOMENT,
    /** For a call on a tab or a channel, whose `txId` is the id of the tab or the channel. */
    tab: Type.Optional(TAB_RECEIPT),
    proof: Type.Optional(Type.Object({ header: HEX, index: COUNT, count: COUNT, siblings: Type.Array(HEX_32) })),
  },
  { additionalProperties: true },
)

/** `PaidAnswer` of the OpenAPI document. */
export const PAID = Type.Object({ paid: Type.Literal(true), result: Type.Unknown(), receipt: RECEIPT })

/** `Refund` of the OpenAPI document. */
export const REFUND = Type.Object({
  status: Type.Union([Type.Literal('pending'), Type.Literal('broadcast'), Type.Literal('confirmed')]),
  amount: Type.Number(),
  asset: Type.String(),
  to: ADDRESS_TEXT,
  txId: Type.Union([PAYMENT_ID, Type.Null()]),
  reason: Type.String(),
  statusUrl: Type.String(),
})

/** `RegistryEntry` of the OpenAPI document. */
export const ENTRY = Type.Object(
  {
    serviceId: Type.String(),
    name: Type.String(),
    description: Type.String(),
    capability: CAPABILITY,
    priceNative: Type.Number({ description: 'In whole coins; 0 while the coin has no price' }),
    priceUsd: Type.Number(),
    provenCalls: COUNT,
    provenCallsStable: COUNT,
    provenVolumeStable: Type.Number(),
    provenVolumeNative: Type.Number(),
    /** Calls on the dollar rail are counted by the selling node. No chain proves them. */
    provenStableSource: Type.Literal('operator'),
    takesTabs: Type.Boolean({
      description: 'Whether calls can be paid from a tab now: see `?rail=tab` of the endpoint',
    }),
    agentId: Type.String(),
    agentName: Type.String(),
    nodeOperated: Type.Boolean(),
    endpoint: Type.String(),
    requestFormat: Type.String(),
    available: Type.Boolean(),
    unavailableReason: Type.Optional(Type.String()),
    requires: Type.Optional(
      Type.Array(Type.String(), { description: 'Settings of the node that would make it available' }),
    ),
    distinctPayers: COUNT,
    example: Type.String(),
    reputation: RECORD,
  },
  { additionalProperties: true },
)
/** A service in the registry of this node. */
export type RegistryEntry = Static<typeof ENTRY>

/** `PaidCall` of the OpenAPI document. */
export const REQUEST_STATUS = Type.Object({
  /** Id under which the call is looked up. On the native rail it is the id of the payment. */
  id: HEX_32,
  txId: Type.Union([PAYMENT_ID, Type.Null()]),
  serviceId: Type.String(),
  caller: ADDRESS_TEXT,
  amount: Type.Number(),
  asset: Type.String(),
  rail: RAIL,
  network: Type.Optional(Type.String()),
  status: Type.Unsafe<string>({
    type: 'string',
    enum: ['paid', 'executing', 'completed', 'failed', 'refund_pending', 'refunded'],
  }),
  blockHeight: Type.Union([HEIGHT, Type.Null()]),
  createdAt: MOMENT,
  completedAt: Type.Union([MOMENT, Type.Null()]),
  refund: Type.Union([REFUND, Type.Null()]),
  receiptTxId: Type.Union([HEX_32, Type.Null()]),
})

/** `FacilitatorEntry` of the OpenAPI document. */
export const FACILITATOR = Type.Object({
  mode: Type.String(),
  url: Type.String(),
  default: Type.Boolean(),
  verification: Type.String(),
  scheme: Type.String(),
  network: Type.String(),
  asset: Type.String(),
  assetContract: Type.String(),
  payTo: Type.String(),
  note: Type.String(),
})

const USD = Type.Union([Type.Number(), Type.Null()])

/** `ProtocolDocument` of the OpenAPI document. */
export const PROTOCOL = Type.Object(
  {
    protocol: Type.String(),
    version: Type.Literal(1),
    description: Type.String(),
    network: Type.Literal('mainnet'),
    networkName: Type.String(),
    chainId: Type.Literal(1),
    nativeUsd: USD,
    payment: Type.Object({
      scheme: Type.Literal('native-x402'),
      asset: Type.String(),
      step1: Type.String(),
      step2: Type.String(),
      step3: Type.String(),
    }),
    evmStableRail: Type.Object({
      mode: Type.String(),
      facilitatorUrl: Type.String(),
      network: Type.String(),
      chainId: Type.Integer(),
      asset: Type.String(),
      assetContract: Type.String(),
      payTo: Type.String(),
      scheme: Type.Literal('exact'),
      authVerified: Type.Boolean(),
      authDetail: Type.String(),
      note: Type.String(),
    }),
    tabs: Type.Object({
      mode: Type.Unsafe<'live' | 'disabled'>({ type: 'string', enum: ['live', 'disabled'] }),
      scheme: Type.Literal('batch-settlement'),
      network: Type.String(),
      asset: Type.String(),
      minDeposit: Type.String({ description: 'Base units; empty if disabled' }),
      minCloseDelay: Type.Integer({ minimum: 0, description: 'Blocks' }),
      open: Type.String({ description: 'Where a signed opening can be handed over' }),
      note: Type.String(),
    }),
    channels: Type.Object({
      mode: Type.Unsafe<'live' | 'disabled'>({ type: 'string', enum: ['live', 'disabled'] }),
      scheme: Type.Literal('batch-settlement'),
      network: Type.String({ description: 'CAIP-2 name of the EVM network; empty if disabled' }),
      asset: Type.String({ description: 'Contract of the token; empty if disabled' }),
      minDeposit: Type.String({ description: 'Units of the token; empty if disabled' }),
      withdrawDelay: Type.Integer({ minimum: 0, description: 'Seconds' }),
      note: Type.String(),
    }),
    facilitators: Type.Array(FACILITATOR),
    discovery: Type.Object({
      wellKnown: Type.String(),
      bazaar: Type.String(),
      services: Type.String(),
      agentCard: Type.String(),
      llmsTxt: Type.String(),
      requests: Type.String(),
      perService: Type.String(),
    }),
    services: Type.Array(ENTRY),
    nodeOperatedCount: COUNT,
    priceFeed: Type.Object({
      source: Type.String(),
      live: Type.Boolean(),
      asOf: orNull(Type.String({ format: 'date-time' })),
      majors: Type.Object({ BTC: USD, ETH: USD, SOL: USD, BNB: USD, LTC: USD }),
    }),
    resources: Type.Array(Type.String()),
  },
  { additionalProperties: true },
)

const REQUESTS_QUERY = Type.Object({ ...PAGE_QUERY.properties, serviceId: Type.Optional(SERVICE_ID) }, CLOSED)

const PAID_ANSWERS = {
  200: { description: 'Paid: result and receipt', schema: PAID },
  402: {
    description:
      'Payment required, or the payment offered does not do; options in `accepts` where another payment would help',
    schema: QUOTE,
  },
  502: {
    description:
      'The service failed after payment: with `refund` the escrow returns to the caller, with `receipt` nothing was charged to the tab',
    schema: Type.Object(
      {
        error: Type.String(),
        code: Type.String(),
        requestId: Type.String(),
        refund: Type.Optional(REFUND),
        receipt: Type.Optional(RECEIPT),
      },
      { additionalProperties: true },
    ),
  },
} as const

const QUOTE_ANSWERS = {
  200: { description: 'Asked with a refund payment: the tab ends', schema: CLOSING },
  402: { description: 'What a call without a payment is answered', schema: QUOTE },
} as const

const CALL_DESCRIPTION =
  'Without `payment` the answer is 402 with the exact price. Pay with an `agent_invoke` transaction, wait for its block, repeat the call with `payment.txId` (and `payment.secret` where the payment is locked).'

/** Operations of the market. */
export const MARKET_ROUTES = {
  call: {
    method: 'POST',
    path: '/api/x402',
    operationId: 'call',
    tag: 'market',
    summary: 'Quote or settle a service named in the body',
    description: CALL_DESCRIPTION,
    query: NET_QUERY,
    body: NAMED_CALL_BODY,
    answers: PAID_ANSWERS,
    isPaid: true,
    bucket: 'quote',
  },
  callService: {
    method: 'POST',
    path: '/api/x402/{serviceId}',
    operationId: 'callService',
    tag: 'market',
    summary: 'Quote or settle one service',
    description: CALL_DESCRIPTION,
    params: Type.Object({ serviceId: SERVICE_ID }),
    query: NET_QUERY,
    body: CALL_BODY,
    answers: PAID_ANSWERS,
    isPaid: true,
    bucket: 'quote',
  },
  quoteService: {
    method: 'GET',
    path: '/api/x402/{serviceId}',
    operationId: 'quoteService',
    tag: 'market',
    summary: 'Quote one service without a request; or end a tab',
    description:
      'The answer of a POST without a body. A payment must be a `refund` of the scheme `batch-settlement`: the seller claims what it is owed and closes the tab, and the rest returns to the payer.',
    params: Type.Object({ serviceId: SERVICE_ID }),
    query: NET_QUERY,
    answers: QUOTE_ANSWERS,
    isPaid: true,
    bucket: 'quote',
  },
  getExample: {
    method: 'GET',
    path: '/services/{serviceId}/example',
    operationId: 'getExample',
    tag: 'market',
    summary: 'An example of a request and a sample of the result, free',
    params: Type.Object({ serviceId: SERVICE_ID }),
    answers: {
      200: {
        description: 'The example',
        schema: Type.Object({
          serviceId: Type.String(),
          sample: Type.Literal(true, { description: 'Nothing was computed: the result is the same for every caller' }),
          request: Type.String(),
          requestFormat: Type.String(),
          result: Type.Unknown(),
          resultSchema: Type.Unknown(),
        }),
      },
    },
    errors: ['service/not-found'],
    bucket: 'read',
  },
  listServices: {
    method: 'GET',
    path: '/services.json',
    operationId: 'listServices',
    tag: 'market',
    summary: 'The registry of this node, unavailable services with the reason',
    query: Type.Object(
      {
        capability: Type.Optional(CAPABILITY),
        q: Type.Optional(Type.String({ maxLength: 80 })),
        query: Type.Optional(Type.String({ maxLength: 80, description: 'The same as `q`' })),
        include: Type.Optional(
          Type.Literal('all', { description: 'Has no effect, since unavailable services are always listed' }),
        ),
      },
      CLOSED,
    ),
    answers: {
      200: {
        description: 'The services',
        schema: Type.Object({
          network: Type.Literal('mainnet'),
          networkName: Type.String(),
          chainId: Type.Literal(1),
          nativeUsd: USD,
          updatedAt: MOMENT,
          nodeOperatedCount: COUNT,
          count: COUNT,
          services: Type.Array(ENTRY),
        }),
      },
    },
    isDocument: true,
    bucket: 'read',
  },
  getProtocol: {
    method: 'GET',
    path: '/.well-known/x402',
    operationId: 'getProtocol',
    tag: 'market',
    summary: 'The payment protocol document',
    answers: { 200: { description: 'The document', schema: PROTOCOL } },
    isDocument: true,
    bucket: 'read',
  },
  getProtocolJson: {
    method: 'GET',
    path: '/.well-known/x402.json',
    operationId: 'getProtocolJson',
    tag: 'market',
    summary: 'The payment protocol document under its other name',
    answers: { 200: { description: 'The document', schema: PROTOCOL } },
    isDocument: true,
    bucket: 'read',
  },
  listRequests: {
    method: 'GET',
    path: '/api/x402/requests',
    operationId: 'listRequests',
    tag: 'market',
    summary: 'Recent paid calls; inputs and results are never shown',
    query: REQUESTS_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({ requests: Type.Array(REQUEST_STATUS), nextCursor: NEXT_CURSOR }),
      },
    },
    isDocument: true,
    errors: ['rpc/no-market', 'market/claims-away'],
    bucket: 'list',
  },
  getRequest: {
    method: 'GET',
    path: '/api/x402/requests/{txId}',
    operationId: 'getRequest',
    tag: 'market',
    summary: 'One paid call by its payment',
    params: Type.Object({ txId: HEX_32 }),
    answers: { 200: { description: 'Its state', schema: REQUEST_STATUS } },
    errors: ['rpc/no-market', 'rpc/request-not-found', 'storage/pruned', 'storage/past-unknown', 'market/claims-away'],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
