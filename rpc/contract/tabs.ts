import { SERVICE_ID } from '../../consensus/primitives/ids.ts'
import { orNull } from './amounts.ts'
import { UNFIT_TRANSACTION, UNREADABLE_TRANSACTION } from './chain.ts'
import { ADDRESS_TEXT, CLOSED, COUNT, HEIGHT, HEX_32, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

const HEX_64 = Type.String({ pattern: '^[0-9a-f]{128}$' })

const UINT_32 = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })
const UINT_128 = Type.String({ pattern: '^(0|[1-9][0-9]{0,38})$' })

/** `TabReceipt` of the OpenAPI document. */
export const TAB_RECEIPT = Type.Object({
  tabId: HEX_32,
  seq: UINT_32,
  n: Type.Integer({
    minimum: 1,
    maximum: 4_294_967_295,
    description: 'Counts the receipts of the tab, failed calls included',
  }),
  serviceId: Type.String({ pattern: SERVICE_ID.source }),
  context: HEX_32,
  resultHash: HEX_32,
  outcome: Type.Unsafe<0 | 1>({ type: 'integer', enum: [0, 1], description: '0 delivered, 1 failed' }),
  charged: UINT_128,
  cumulative: UINT_128,
  durationMs: UINT_32,
  timeMs: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  signature: Type.String({ pattern: '^[0-9a-f]{128}$', description: "By the tab's receipt key" }),
})

/** `TabState` of the OpenAPI document: how a tab stands with its seller. */
export const CHANNEL_STATE = Type.Object({
  channelId: HEX_32,
  balance: Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'The deposit' }),
  totalClaimed: UINT_TEXT,
  chargedCumulativeAmount: UINT_TEXT,
  receipts: COUNT,
  nextSeq: COUNT,
  withdrawRequestedAt: Type.Integer({ minimum: 0, description: 'Height at which the tab closes; 0 while it is open' }),
  expiresAt: HEIGHT,
})

/** `TabVoucher` of the OpenAPI document: the highest voucher that the seller holds. */
export const VOUCHER_STATE = Type.Object({
  seq: COUNT,
  maxClaimableAmount: UINT_TEXT,
  context: HEX_32,
  signature: HEX_64,
})

/** What the next call costs. */
export const NEXT_PRICE = Type.Object({ amount: UINT_TEXT, validUntil: HEIGHT })

/** `Tab` of the OpenAPI document: the record of the chain. */
export const TAB = Type.Object({
  agentId: Type.String(),
  payer: ADDRESS_TEXT,
  payout: ADDRESS_TEXT,
  insider: Type.Boolean({ description: 'The payer is owner, payout or settler of the agent' }),
  voucherKey: HEX_32,
  receiptKey: HEX_32,
  deposit: UINT_TEXT,
  claimed: UINT_TEXT,
  receipts: COUNT,
  chain: HEX_32,
  openedAt: HEIGHT,
  expiresAt: HEIGHT,
  closeDelay: COUNT,
  closesAt: Type.Integer({ minimum: 0, description: '0 until the payer asks to close' }),
  dueHeight: Type.Integer({ minimum: 0, description: 'Height at which the rest returns to the payer' }),
})

/** `TabClosing` of the OpenAPI document: the answer to a refund payment. */
export const CLOSING = Type.Object({
  closing: Type.Literal(true),
  tabId: HEX_32,
  channelState: CHANNEL_STATE,
})

/** `TabTerms` of the OpenAPI document: on which terms an agent takes tabs. A zero key: it takes no new ones. */
export const TAB_TERMS = Type.Object({ receiptKey: HEX_32, minDeposit: UINT_TEXT, minCloseDelay: COUNT })

const TAB_PATH = Type.Object({ tabId: HEX_32 })

/** Query 1 of the specification: it shows that the payer asks. */
const QUERY_FIELDS = {
  timeMs: Type.Optional(Type.Integer({ minimum: 0, description: 'Time of the query, within five minutes of now' })),
  signature: Type.Optional(
    Type.String({ pattern: '^[0-9a-f]{128}$', description: 'Of a state query, by the voucher key' }),
  ),
}

const TAB_QUERY_ERRORS = [
  'rpc/no-tabs',
  'tab/unknown',
  'tabcall/foreign',
  'tabcall/query-time',
  'tabcall/query-signature',
  'tabcall/failing',
  'market/claims-away',
] as const

/** Longest transaction in hex: above that of any `tab_open` with one signature. */
const TRANSACTION_HEX_MAX = 32_768

/** Operations of tabs. */
export const TAB_ROUTES = {
  openTab: {
    method: 'POST',
    path: '/api/tabs',
    operationId: 'openTab',
    tag: 'market',
    summary: 'Hand over a signed `tab_open` or `tab_fund` for an agent of this node',
    description:
      'For clients without a node of their own. `transaction` is the hex of its bytes. It takes effect with its block; a call with a `deposit` payment waits for that. Handing it over again does no harm.',
    body: Type.Object(
      { transaction: Type.String({ pattern: '^([0-9a-f]{2})+$', maxLength: TRANSACTION_HEX_MAX }) },
      CLOSED,
    ),
    answers: {
      200: {
        description: 'It waits for its block, or has it',
        schema: Type.Object({
          tabId: HEX_32,
          txId: HEX_32,
          status: Type.Union([Type.Literal('mempool'), Type.Literal('mined')]),
        }),
      },
    },
    errors: [
      'rpc/no-market',
      'rpc/no-tabs',
      'tab/unknown',
      'tab/no-terms',
      'tab/deposit-low',
      'tab/delay-short',
      ...UNREADABLE_TRANSACTION,
      ...UNFIT_TRANSACTION,
    ],
    bucket: 'transaction',
  },
  getTab: {
    method: 'GET',
    path: '/api/tabs/{tabId}',
    operationId: 'getTab',
    tag: 'market',
    summary: 'A tab of the chain; with a signed query also how it stands with this seller',
    params: TAB_PATH,
    query: Type.Object(QUERY_FIELDS, CLOSED),
    answers: {
      200: {
        description: 'The tab; `state`, `voucher` and `lastReceipt` are there if the payer asks its seller',
        schema: Type.Object({
          tabId: HEX_32,
          tab: TAB,
          terms: orNull(TAB_TERMS),
          state: Type.Optional(CHANNEL_STATE),
          voucher: Type.Optional(orNull(VOUCHER_STATE)),
          lastReceipt: Type.Optional(orNull(TAB_RECEIPT)),
        }),
      },
    },
    errors: TAB_QUERY_ERRORS,
    bucket: 'read',
  },
  listTabReceipts: {
    method: 'GET',
    path: '/api/tabs/{tabId}/receipts',
    operationId: 'listTabReceipts',
    tag: 'market',
    summary: 'Signed receipts of a tab, for its payer',
    description:
      'Also after its end, as long as the seller keeps them: 24 hours, and until the claim is 40 blocks deep.',
    params: TAB_PATH,
    query: Type.Object(
      {
        from: Type.Optional(Type.Integer({ minimum: 1, maximum: 4_294_967_295, default: 1 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
        ...QUERY_FIELDS,
      },
      CLOSED,
    ),
    answers: {
      200: {
        description: 'A page; `next` is null on the last one',
        schema: Type.Object({ tabId: HEX_32, receipts: Type.Array(TAB_RECEIPT), next: orNull(COUNT) }),
      },
    },
    errors: TAB_QUERY_ERRORS,
    bucket: 'list',
  },
} as const satisfies Record<string, Route>
