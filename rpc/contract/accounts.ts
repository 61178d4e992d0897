import { AMOUNT_TEXT, ASSET_AMOUNT, AT_HEAD, DECIMAL_TEXT, orNull, PRICE, SYMBOL, USD } from './amounts.ts'
import { TAB_FACTS } from './chain-tabs.ts'
import {
  ADDRESS_TEXT,
  COUNT,
  HEIGHT,
  HEX_32,
  INDEXED_FROM,
  MOMENT,
  NEXT_CURSOR,
  PAGE_QUERY,
  type Route,
  UINT_TEXT,
} from './route.ts'
import * as Type from './schema.ts'

/** `ValuedAmount` of the OpenAPI document. */
export const VALUED = Type.Object({ ...ASSET_AMOUNT.properties, price: orNull(PRICE), valueUsd: USD })

/** `PoolPosition` of the OpenAPI document. */
export const POSITION = Type.Object({
  poolId: HEX_32,
  pool: Type.String(),
  shares: AMOUNT_TEXT,
  sharePct: DECIMAL_TEXT,
  x: ASSET_AMOUNT,
  y: ASSET_AMOUNT,
  valueUsd: USD,
})

/** `Stake` of the OpenAPI document. */
export const STAKE = Type.Object({
  stakeId: HEX_32,
  tier: COUNT,
  staked: ASSET_AMOUNT,
  pending: ASSET_AMOUNT,
  stakedAt: HEIGHT,
  unlocksAt: HEIGHT,
  unlocked: Type.Boolean(),
  valueUsd: USD,
})

/** `Holdings` of the OpenAPI document. */
export const HOLDINGS = Type.Object({
  ...AT_HEAD,
  address: ADDRESS_TEXT,
  exists: Type.Boolean(),
  nonce: UINT_TEXT,
  native: VALUED,
  tokens: Type.Array(VALUED),
  positions: Type.Array(POSITION),
  stakes: Type.Array(STAKE),
  staked: VALUED,
  pendingRewards: VALUED,
  tabs: Type.Array(TAB_FACTS),
  inTabs: VALUED,
  totalUsd: DECIMAL_TEXT,
  unpriced: Type.Array(SYMBOL),
  truncated: Type.Object({
    tokens: Type.Boolean(),
    positions: Type.Boolean(),
    stakes: Type.Boolean(),
    tabs: Type.Boolean(),
  }),
})

/** `HistoryEvent` of the OpenAPI document. */
export const EVENT = Type.Object({
  height: HEIGHT,
  position: COUNT,
  time: MOMENT,
  event: Type.Unsafe<string>({
    type: 'string',
    enum: ['transaction', 'delivered', 'failed', 'refunded', 'reward', 'tab_claimed', 'tab_returned'],
  }),
  roles: Type.Array(
    Type.Unsafe<string>({ type: 'string', enum: ['sender', 'receiver', 'caller', 'payout', 'miner', 'payer'] }),
  ),
  txId: orNull(HEX_32),
  kind: orNull(Type.String()),
  sender: orNull(ADDRESS_TEXT),
  payload: orNull(Type.Record(Type.String(), Type.Unknown())),
  success: Type.Boolean(),
  outcome: orNull(Type.String()),
  amount: Type.Union([UINT_TEXT, Type.Null()], {
    description: 'Base units of the coin that an event moved; of a claim with what was burned. Null for a transaction',
  }),
})

const NAMED = Type.Object({ address: ADDRESS_TEXT })

/** Operations on what an address holds and did. */
export const ACCOUNT_ROUTES = {
  getHistory: {
    method: 'GET',
    path: '/api/v1/accounts/{address}/history',
    operationId: 'getHistory',
    tag: 'assets',
    summary: 'What happened to an address, newest first',
    description:
      'Transactions that it sent or that name it, ends of escrows with it as caller or payee (`txId` is the payment), mining rewards when they mature, and for a tab (`txId` is its opening) each claim, of payer and payout, and the return of the rest to its payer.',
    params: NAMED,
    query: Type.Object(
      { ...PAGE_QUERY.properties, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })) },
      { additionalProperties: false },
    ),
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({
          ...AT_HEAD,
          address: ADDRESS_TEXT,
          indexedFrom: INDEXED_FROM,
          events: Type.Array(EVENT),
          nextCursor: NEXT_CURSOR,
        }),
      },
    },
    errors: ['address/malformed', 'address/other-network', 'chain/head-moving'],
    bucket: 'list',
  },
  getHoldings: {
    method: 'GET',
    path: '/api/v1/accounts/{address}/holdings',
    operationId: 'getHoldings',
    tag: 'assets',
    summary: 'Coins, tokens, pool shares with their reserves, stakes with their rewards, and open tabs',
    description:
      'At most 100 tokens, 100 positions, 100 stakes and 100 open tabs. Assets without a price are listed in `unpriced` and missing from `totalUsd`. An asset that pools price counts in total for at most the `depthUsd` of its price.',
    params: NAMED,
    answers: { 200: { description: 'What it holds', schema: HOLDINGS } },
    errors: ['address/malformed', 'address/other-network', 'chain/head-moving'],
    bucket: 'list',
  },
} as const satisfies Record<string, Route>
