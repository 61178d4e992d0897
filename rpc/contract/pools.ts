import { AMOUNT_QUERY, AMOUNT_TEXT, ASSET_AMOUNT, AT_HEAD, DECIMAL_TEXT, orNull, SYMBOL, USD } from './amounts.ts'
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

const POOL_NAME = Type.String({ pattern: '^[A-Z0-9]{2,10}-[A-Z0-9]{2,10}-[0-9]{1,4}$' })
/** A pool by id, or by name with the assets in either order. */
const POOL_PARAM = Type.String({ pattern: '^([0-9a-f]{64}|[A-Z0-9]{2,10}-[A-Z0-9]{2,10}-[0-9]{1,4})$' })

const DAY = Type.Object({
  volumeX: UINT_TEXT,
  volumeY: UINT_TEXT,
  feesX: UINT_TEXT,
  feesY: UINT_TEXT,
  trades: COUNT,
  volumeUsd: USD,
  feesUsd: USD,
  aprPct: orNull(DECIMAL_TEXT),
})

/** `Pool` of the OpenAPI document. */
export const POOL = Type.Object({
  id: HEX_32,
  name: POOL_NAME,
  feeBps: COUNT,
  x: ASSET_AMOUNT,
  y: ASSET_AMOUNT,
  shares: AMOUNT_TEXT,
  lockedShares: UINT_TEXT,
  priceYPerX: DECIMAL_TEXT,
  priceXPerY: DECIMAL_TEXT,
  createdAt: HEIGHT,
  tvlUsd: USD,
  day: Type.Union([DAY, Type.Null()], {
    description: 'The last 24 hours; null where the node does not know all of them yet',
  }),
})

/** `Candle` of the OpenAPI document. */
export const CANDLE = Type.Object({
  time: MOMENT,
  open: orNull(DECIMAL_TEXT),
  high: orNull(DECIMAL_TEXT),
  low: orNull(DECIMAL_TEXT),
  close: orNull(DECIMAL_TEXT),
  volumeX: UINT_TEXT,
  volumeY: UINT_TEXT,
  feesX: UINT_TEXT,
  feesY: UINT_TEXT,
  trades: COUNT,
  reserveX: UINT_TEXT,
  reserveY: UINT_TEXT,
})

/** `Swap` of the OpenAPI document. */
export const SWAP = Type.Object({
  txId: HEX_32,
  height: HEIGHT,
  index: COUNT,
  hop: COUNT,
  time: MOMENT,
  poolId: HEX_32,
  pool: POOL_NAME,
  sender: ADDRESS_TEXT,
  in: ASSET_AMOUNT,
  out: ASSET_AMOUNT,
})

const LISTED = Type.Object({ ...PAGE_QUERY.properties, asset: Type.Optional(SYMBOL) }, { additionalProperties: false })
const SWAPS_QUERY = Type.Object(
  { ...PAGE_QUERY.properties, pool: Type.Optional(POOL_PARAM) },
  { additionalProperties: false },
)
const CANDLES_QUERY = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 168 })),
    cursor: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
)

const QUOTE_QUERY = Type.Object(
  {
    from: SYMBOL,
    to: SYMBOL,
    amount: Type.Optional(AMOUNT_QUERY),
    amountOut: Type.Optional(AMOUNT_QUERY),
    slippageBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 50 })),
  },
  { additionalProperties: false },
)

/** `SwapHop` of the OpenAPI document. */
export const HOP = Type.Object({
  poolId: HEX_32,
  pool: POOL_NAME,
  feeBps: COUNT,
  in: ASSET_AMOUNT,
  out: ASSET_AMOUNT,
  fee: ASSET_AMOUNT,
})

/** `SwapQuote` of the OpenAPI document. */
export const SWAP_QUOTE = Type.Object({
  ...AT_HEAD,
  exactOut: Type.Boolean(),
  amountIn: ASSET_AMOUNT,
  amountOut: ASSET_AMOUNT,
  minOut: orNull(ASSET_AMOUNT),
  maxIn: orNull(ASSET_AMOUNT),
  slippageBps: COUNT,
  price: DECIMAL_TEXT,
  priceImpactPct: Type.Unsafe<string>({
    ...DECIMAL_TEXT,
    description: 'How far the price of the swap lies below the listed one, in percent, pool fees included',
  }),
  route: Type.Array(HOP),
  validAtHeight: HEIGHT,
  payload: Type.Object({
    assetIn: SYMBOL,
    exactOut: Type.Boolean(),
    amount: UINT_TEXT,
    limit: UINT_TEXT,
    hops: Type.Array(Type.Object({ asset: SYMBOL, feeBps: COUNT })),
  }),
})

/** Operations on pools and trades. */
export const POOL_ROUTES = {
  listPools: {
    method: 'GET',
    path: '/api/v1/pools',
    operationId: 'listPools',
    tag: 'assets',
    summary: 'Pools with reserves, prices and what they did in 24 hours',
    description:
      'With `asset` the pools that hold most of it, deepest first, on one page. Dollar values are null where a price is unknown. `aprPct` is fees of 24 hours x 365 / value locked: an estimate that says nothing of days to come.',
    query: LISTED,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({ ...AT_HEAD, pools: Type.Array(POOL), nextCursor: NEXT_CURSOR }),
      },
    },
    errors: ['rpc/asset-not-found', 'chain/head-moving'],
    bucket: 'list',
  },
  getPool: {
    method: 'GET',
    path: '/api/v1/pools/{id}',
    operationId: 'getPool',
    tag: 'assets',
    summary: 'One pool by name, as FAR-FUSD-30, or by id',
    params: Type.Object({ id: POOL_PARAM }),
    answers: { 200: { description: 'The pool', schema: Type.Object({ ...AT_HEAD, pool: POOL }) } },
    errors: ['rpc/pool-not-found', 'chain/head-moving'],
    bucket: 'read',
  },
  listCandles: {
    method: 'GET',
    path: '/api/v1/pools/{id}/candles',
    operationId: 'listCandles',
    tag: 'assets',
    summary: 'Hourly candles of executed swaps, oldest first, the newest hours on the first page',
    description:
      'Prices are Y per X in whole units, as paid, fee included. Hours in which nothing happened are left out; in one in which liquidity moved without a trade the prices are null.',
    params: Type.Object({ id: POOL_PARAM }),
    query: CANDLES_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({
          ...AT_HEAD,
          poolId: HEX_32,
          pool: POOL_NAME,
          source: Type.Literal('executed swaps'),
          indexedFrom: INDEXED_FROM,
          candles: Type.Array(CANDLE),
          nextCursor: NEXT_CURSOR,
        }),
      },
    },
    errors: ['rpc/pool-not-found', 'chain/head-moving'],
    bucket: 'list',
  },
  listSwaps: {
    method: 'GET',
    path: '/api/v1/swaps',
    operationId: 'listSwaps',
    tag: 'assets',
    summary: 'Executed swaps, newest first. A swap over several pools has one entry for each pool',
    query: SWAPS_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({
          ...AT_HEAD,
          indexedFrom: INDEXED_FROM,
          swaps: Type.Array(SWAP),
          nextCursor: NEXT_CURSOR,
        }),
      },
    },
    errors: ['rpc/pool-not-found', 'chain/head-moving'],
    bucket: 'list',
  },
  getQuote: {
    method: 'GET',
    path: '/api/v1/quote',
    operationId: 'getQuote',
    tag: 'assets',
    summary: 'What a swap would give at the head, and the payload that asks for it',
    description:
      'Give `amount` of `from`, or `amountOut` of `to` (over one pool), in decimal units. `payload` is that of a swap transaction with the limit that `slippageBps` makes.',
    query: QUOTE_QUERY,
    answers: { 200: { description: 'The quote', schema: SWAP_QUOTE } },
    errors: [
      'rpc/asset-not-found',
      'amount/not-decimal',
      'amount/too-many-decimals',
      'amount/too-large',
      'tx/field',
      'pool/too-small',
      'pool/too-large',
      'pool/no-route',
      'chain/head-moving',
    ],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
