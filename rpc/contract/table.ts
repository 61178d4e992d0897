import { CHAIN_ROUTES } from './chain.ts'
import { MARKET_ROUTES } from './market.ts'
import { OPERATIONS_ROUTES } from './operations.ts'
import type { Route } from './route.ts'

/** Every operation of the API. */
export const ROUTES = { ...CHAIN_ROUTES, ...MARKET_ROUTES, ...OPERATIONS_ROUTES } as const satisfies Record<
  string,
  Route
>

/** Name of an operation. */
export type OperationId = keyof typeof ROUTES
