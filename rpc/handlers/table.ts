import type { Handler } from '../answer.ts'
import { CHAIN_ROUTES } from '../contract/chain.ts'
import { MARKET_ROUTES } from '../contract/market.ts'
import { OPERATIONS_ROUTES } from '../contract/operations.ts'
import type { Route } from '../contract/route.ts'
import * as chain from './chain.ts'
import * as market from './market.ts'
import * as operations from './operations.ts'

/** Every operation of the API. */
export const ROUTES = { ...CHAIN_ROUTES, ...MARKET_ROUTES, ...OPERATIONS_ROUTES } as const satisfies Record<
  string,
  Route
>

/** Name of an operation. */
export type OperationId = keyof typeof ROUTES

/** The handler of every operation: one without does not compile. */
export const HANDLERS: Readonly<Record<OperationId, Handler>> = {
  submitTransaction: chain.submitTransaction,
  submitTransactionAlias: chain.submitTransaction,
  listBlocks: chain.listBlocks,
  getBlock: chain.getBlock,
  getAncestry: chain.getAncestry,
  getTransaction: chain.getTransaction,
  getAccount: chain.getAccount,
  getMempool: chain.getMempool,
  getFees: chain.getFees,
  call: market.call,
  callService: market.callService,
  getExample: market.getExample,
  listServices: market.listServices,
  getProtocol: market.getProtocol,
  getProtocolJson: market.getProtocol,
  listRequests: market.listRequests,
  getRequest: market.getRequest,
  getStatus: operations.getStatus,
  getHealth: operations.getHealth,
  getReady: operations.getReady,
  getMetrics: operations.getMetrics,
  getHome: operations.getHome,
}
