import { ASSET_AMOUNT, AT_HEAD, orNull } from './amounts.ts'
import { ADDRESS_TEXT, COUNT, HEIGHT, HEX_32, INDEXED_FROM, NEXT_CURSOR, PAGE_QUERY, type Route } from './route.ts'
import * as Type from './schema.ts'

const END = Type.Object(
  {
    how: Type.Unsafe<'claim' | 'return'>({ type: 'string', enum: ['claim', 'return'] }),
    height: HEIGHT,
    txId: orNull(HEX_32),
    returned: ASSET_AMOUNT,
  },
  {
    description: '`claim`: the agent closed it, in `txId`. `return`: consensus ended it at its due height',
  },
)

const SUMS = Type.Object(
  { opening: ASSET_AMOUNT, paid: ASSET_AMOUNT, burned: ASSET_AMOUNT, calls: COUNT, failed: COUNT, claims: COUNT },
  {
    description:
      '`opening` is the first deposit. `paid` went to the payout, `burned` was destroyed, `calls` count as proven, `failed` is the word of the seller. Null on a node that began after the opening',
  },
)

/** `TabFacts` of the OpenAPI document: what the chain records about a tab. */
export const TAB_FACTS = Type.Object({
  tabId: HEX_32,
  agentId: Type.String(),
  payer: ADDRESS_TEXT,
  payout: ADDRESS_TEXT,
  insider: Type.Boolean(),
  status: Type.Unsafe<'open' | 'closing' | 'ended'>({ type: 'string', enum: ['open', 'closing', 'ended'] }),
  voucherKey: HEX_32,
  receiptKey: HEX_32,
  deposit: ASSET_AMOUNT,
  claimed: ASSET_AMOUNT,
  locked: ASSET_AMOUNT,
  receipts: COUNT,
  chain: HEX_32,
  openedAt: HEIGHT,
  expiresAt: HEIGHT,
  closeDelay: COUNT,
  dueAt: Type.Union([HEIGHT, Type.Null()], {
    description: 'Height at whose beginning consensus returns the rest; null if it has ended',
  }),
  sums: orNull(SUMS),
  end: orNull(END),
})

/** `TabClaim` of the OpenAPI document: one mined claim of a tab. */
export const TAB_CLAIM_FACTS = Type.Object({
  height: HEIGHT,
  index: COUNT,
  entry: COUNT,
  txId: HEX_32,
  root: HEX_32,
  receipts: COUNT,
  failed: COUNT,
  claimed: ASSET_AMOUNT,
  charged: ASSET_AMOUNT,
  burned: ASSET_AMOUNT,
  closed: Type.Boolean(),
  returned: ASSET_AMOUNT,
})

const LIST_QUERY = Type.Object(
  {
    ...PAGE_QUERY.properties,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    open: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['true'] })),
  },
  { additionalProperties: false },
)

const LISTED = { indexedFrom: INDEXED_FROM, tabs: Type.Array(TAB_FACTS), nextCursor: NEXT_CURSOR }

const ORDER =
  'Newest first. With `open=true` only open ones, which every node knows; ended ones are complete from `indexedFrom` on.'

/** Operations on tabs as the chain records them, of all agents. */
export const CHAIN_TAB_ROUTES = {
  listTabs: {
    method: 'GET',
    path: '/api/v1/tabs',
    operationId: 'listTabs',
    tag: 'market',
    summary: 'All tabs of the chain, with what they lock, paid and burned in total',
    description: ORDER,
    query: LIST_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({
          ...AT_HEAD,
          totals: Type.Object({ open: COUNT, locked: ASSET_AMOUNT, claimed: ASSET_AMOUNT, burned: ASSET_AMOUNT }),
          ...LISTED,
        }),
      },
    },
    errors: ['chain/head-moving'],
    bucket: 'list',
  },
  getTabFacts: {
    method: 'GET',
    path: '/api/v1/tabs/{tabId}',
    operationId: 'getTabFacts',
    tag: 'market',
    summary: 'One tab: its record, what its claims add up to, and how it ended',
    params: Type.Object({ tabId: HEX_32 }),
    answers: { 200: { description: 'The tab', schema: Type.Object({ ...AT_HEAD, tab: TAB_FACTS }) } },
    errors: ['tab/unknown', 'storage/past-unknown', 'chain/head-moving'],
    bucket: 'read',
  },
  listTabClaims: {
    method: 'GET',
    path: '/api/v1/tabs/{tabId}/claims',
    operationId: 'listTabClaims',
    tag: 'market',
    summary: 'The mined claims of a tab, oldest first',
    description:
      'A payer finds here, without the seller, where the receipts of its calls are committed to: `root` covers those up to `receipts` that the claims before did not cover. `txId` and `entry` name the transaction and its entry; `claimed` is the total after it, `charged` its own part, `burned` included.',
    params: Type.Object({ tabId: HEX_32 }),
    query: PAGE_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({
          ...AT_HEAD,
          indexedFrom: INDEXED_FROM,
          claims: Type.Array(TAB_CLAIM_FACTS),
          nextCursor: NEXT_CURSOR,
        }),
      },
    },
    errors: ['tab/unknown', 'storage/past-unknown', 'chain/head-moving'],
    bucket: 'list',
  },
  listAccountTabs: {
    method: 'GET',
    path: '/api/v1/accounts/{address}/tabs',
    operationId: 'listAccountTabs',
    tag: 'assets',
    summary: 'The tabs that an address opened',
    description: ORDER,
    params: Type.Object({ address: ADDRESS_TEXT }),
    query: LIST_QUERY,
    answers: {
      200: { description: 'A page', schema: Type.Object({ ...AT_HEAD, address: ADDRESS_TEXT, ...LISTED }) },
    },
    errors: ['address/malformed', 'address/other-network', 'chain/head-moving'],
    bucket: 'list',
  },
  listAgentTabs: {
    method: 'GET',
    path: '/api/v1/agents/{id}/tabs',
    operationId: 'listAgentTabs',
    tag: 'market',
    summary: 'The tabs of an agent, and on which terms it takes new ones',
    description: `${ORDER} \`terms\` is null if the agent takes no tabs.`,
    params: Type.Object({ id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$' }) }),
    query: LIST_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({
          ...AT_HEAD,
          agentId: Type.String(),
          terms: orNull(Type.Object({ receiptKey: HEX_32, minDeposit: ASSET_AMOUNT, minCloseDelay: COUNT })),
          ...LISTED,
        }),
      },
    },
    errors: ['rpc/agent-not-found', 'chain/head-moving'],
    bucket: 'list',
  },
} as const satisfies Record<string, Route>
