import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import { httpFault } from './http-faults.ts'
import type { Route } from './route.ts'

type Codes = readonly FaultCode[]

/** Faults of requests that cannot be read or fit no route. */
export const BEFORE_ANY_ROUTE: Codes = [
  'rpc/unreadable',
  'rpc/receive-timeout',
  'rpc/headers-too-large',
  'rpc/not-found',
  'rpc/near-path',
  'rpc/method-not-allowed',
]

const OF_TAB_CALLS: Codes = [
  'tabcall/unconfirmed',
  'tabcall/unknown',
  'tabcall/foreign',
  'tabcall/receipt-key',
  'tabcall/scheme',
  'tabcall/transaction',
  'tabcall/closing',
  'tabcall/expiring',
  'tabcall/in-flight',
  'tabcall/unclaimed',
  'tabcall/too-many-failed',
  'tabcall/rolled-back',
  'tabcall/seq-used',
  'tabcall/seq-window',
  'tabcall/ceiling-low',
  'tabcall/deposit-low',
  'tabcall/signature',
  'tabcall/failing',
  'tabcall/under-way',
  'tabcall/result-expired',
]

const OF_CHANNELS: Codes = [
  'channel/mismatch',
  'channel/signature',
  'channel/ceiling',
  'channel/claimed',
  'channel/balance',
  'channel/unknown',
  'channel/busy',
  'channel/closing',
  'channel/deposit-low',
  'channel/deposit-time',
  'channel/nothing-left',
  'channel/unverified',
  'channel/chain-away',
]

/** Faults that all routes of one kind have. The `errors` of a route list only its own. */
export const SHARED_ERRORS: readonly {
  readonly of: string
  readonly has: (route: Route) => boolean
  readonly codes: Codes
}[] = [
  {
    of: 'every route',
    has: () => true,
    codes: ['rpc/invalid-request', 'rpc/too-many-at-once', 'rpc/rate-limited', 'rpc/busy', 'rpc/internal'],
  },
  {
    of: 'routes that may be sent a body',
    has: ({ method }) => method !== 'GET',
    codes: ['rpc/malformed-json', 'rpc/media-type', 'rpc/body-too-large'],
  },
  {
    of: 'routes that may be sent a body, without the OpenAI interface',
    has: ({ method, isOpenAi }) => method !== 'GET' && isOpenAi !== true,
    codes: ['rpc/too-many-values'],
  },
  { of: 'routes for the operator', has: ({ operator }) => operator === 'required', codes: ['rpc/unauthorized'] },
  {
    of: 'routes that need an API key',
    has: ({ needsKey }) => needsKey === true,
    codes: ['chat/off', 'chat/invalid-key', 'chat/rate-limited', 'chat/busy'],
  },
  {
    of: 'routes of an API key that take tabs',
    has: ({ takesTabs }) => takesTabs === true,
    codes: [
      'rpc/no-tabs',
      'market/claims-away',
      'service/unavailable',
      'service/failed',
      'service/timeout',
      'service/bad-result',
      'pay/unreadable',
      'pay/no-offer',
      'pay/not-found',
      ...OF_TAB_CALLS,
    ],
  },
  {
    of: 'streams of events',
    has: ({ answers }) => answers[200]?.contentType === 'text/event-stream',
    codes: ['rpc/too-many-streams'],
  },
  {
    of: 'paid routes',
    has: ({ isPaid }) => isPaid === true,
    codes: [
      'rpc/no-market',
      'rpc/unsupported-network',
      'market/claims-away',
      'service/not-found',
      'service/invalid-request',
      'service/unavailable',
      'service/failed',
      'service/timeout',
      'service/bad-result',
      'service/interrupted',
      'service/too-late',
      'pay/unreadable',
      'pay/no-offer',
      'pay/not-found',
      'pay/unconfirmed',
      'pay/held',
      'pay/failed',
      'pay/mismatch',
      'pay/closed',
      'pay/too-late',
      'pay/unused',
      'pay/secret-missing',
      'pay/already-redeemed',
      'pay/refunded',
      'pay/result-expired',
      'pay/rail-closed',
      ...OF_TAB_CALLS,
      ...OF_CHANNELS,
      'tabcall/query-time',
      'tabcall/query-signature',
      'stable/refused',
      'stable/failing',
      'stable/crowded',
      'stable/unproven',
      'stable/used',
      'stable/key-used',
      'stable/under-way',
      'stable/unsettled',
      'stable/delivered',
      'stable/result-expired',
      'stable/owed',
      'stable/refund-waits',
      'stable/refund-refused',
      'stable/not-arrived',
      'stable/facilitator',
      'storage/pruned',
      'storage/past-unknown',
    ],
  },
]

/** API code of a quote for a call without a payment. It stands for no fault. */
const PAYMENT_REQUIRED = 'payment_required'

/** All faults of a route: those of its kinds, then its own. */
export function errorsOf(route: Route): Codes {
  const shared = SHARED_ERRORS.flatMap(({ has, codes }) => (has(route) ? codes : []))
  return [...new Set([...shared, ...(route.errors ?? [])])]
}

/** Sorted API codes of a route, by ascending status. */
export function errorCodesOf(route: Route): ReadonlyMap<number, readonly string[]> {
  const found: [number, string][] = errorsOf(route).map((code) => {
    const { status, api } = httpFault(code)
    // The OpenAI interface has one code for all limits.
    return [status, route.isOpenAi === true && status === 429 ? 'rate_limit_exceeded' : api]
  })
  if (route.isPaid === true || route.takesTabs === true) found.push([402, PAYMENT_REQUIRED])
  const byStatus = Map.groupBy(
    found.sort(([a], [b]) => a - b),
    ([status]) => status,
  )
  return new Map([...byStatus].map(([status, codes]) => [status, [...new Set(codes.map(([, api]) => api))].sort()]))
}
