import { ASSET_AMOUNT, AT_HEAD, DECIMAL_TEXT, DECIMALS, orNull, PRICE, SYMBOL } from './amounts.ts'
import { ADDRESS_TEXT, COUNT, HEIGHT, HEX_32, NEXT_CURSOR, PAGE_QUERY, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

/** `Token` of the OpenAPI document. */
export const TOKEN = Type.Object({
  symbol: SYMBOL,
  name: Type.String(),
  decimals: DECIMALS,
  kind: Type.Unsafe<string>({ type: 'string', enum: ['native', 'plain', 'stable', 'bridged'] }),
  asset: HEX_32,
  issuer: orNull(ADDRESS_TEXT),
  frozen: Type.Boolean(),
  freezable: Type.Boolean(),
  hidden: Type.Boolean(),
  createdAt: HEIGHT,
  minted: UINT_TEXT,
  burned: UINT_TEXT,
  supply: UINT_TEXT,
  supplyText: DECIMAL_TEXT,
  maxSupply: orNull(UINT_TEXT),
  headroom: orNull(UINT_TEXT),
  holders: COUNT,
  price: orNull(PRICE),
})

/** `StableToken` of the OpenAPI document. */
export const STABLE = Type.Object({
  symbol: SYMBOL,
  supply: ASSET_AMOUNT,
  reserve: ASSET_AMOUNT,
  redeemable: ASSET_AMOUNT,
  surplus: ASSET_AMOUNT,
  backingBps: orNull(UINT_TEXT),
  issuer: orNull(ADDRESS_TEXT),
  frozen: Type.Boolean(),
})

/** A holder of an asset. */
export const HOLDER = Type.Object({
  address: ADDRESS_TEXT,
  units: UINT_TEXT,
  text: DECIMAL_TEXT,
  sharePct: DECIMAL_TEXT,
})

const NAMED = Type.Object({ symbol: SYMBOL })

/** Operations on assets and their holders. */
export const TOKEN_ROUTES = {
  listTokens: {
    method: 'GET',
    path: '/api/v1/tokens',
    operationId: 'listTokens',
    tag: 'assets',
    summary: 'Assets by symbol, the native coin first',
    description: 'Tokens that their issuer hides are left out, so a page may be shorter than its limit.',
    query: PAGE_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({ ...AT_HEAD, tokens: Type.Array(TOKEN), nextCursor: NEXT_CURSOR }),
      },
    },
    errors: ['chain/head-moving'],
    bucket: 'list',
  },
  getToken: {
    method: 'GET',
    path: '/api/v1/tokens/{symbol}',
    operationId: 'getToken',
    tag: 'assets',
    summary: 'One asset with its price, its deepest pools and, where it is stable, its backing',
    params: NAMED,
    answers: {
      200: {
        description: 'The asset',
        schema: Type.Object({
          ...AT_HEAD,
          token: TOKEN,
          backing: orNull(STABLE),
          pools: Type.Array(Type.Object({ id: HEX_32, name: Type.String(), reserve: ASSET_AMOUNT })),
        }),
      },
    },
    errors: ['rpc/asset-not-found', 'chain/head-moving'],
    bucket: 'read',
  },
  listHolders: {
    method: 'GET',
    path: '/api/v1/tokens/{symbol}/holders',
    operationId: 'listHolders',
    tag: 'assets',
    summary: 'Holders of an asset, the largest first',
    description:
      'The cursor names an amount and an address: the next page has the addresses that hold less at that moment. What pools, stakes and escrows hold has no address.',
    params: NAMED,
    query: PAGE_QUERY,
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({
          ...AT_HEAD,
          symbol: SYMBOL,
          decimals: DECIMALS,
          supply: UINT_TEXT,
          count: COUNT,
          holders: Type.Array(HOLDER),
          nextCursor: NEXT_CURSOR,
        }),
      },
    },
    errors: ['rpc/asset-not-found', 'chain/head-moving'],
    bucket: 'read',
  },
  listStables: {
    method: 'GET',
    path: '/api/v1/stables',
    operationId: 'listStables',
    tag: 'assets',
    summary: 'Stable tokens with their reserves',
    answers: {
      200: {
        description: 'All of them',
        schema: Type.Object({ ...AT_HEAD, stables: Type.Array(STABLE) }),
      },
    },
    errors: ['chain/head-moving'],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
