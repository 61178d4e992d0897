import type { Handler } from '../answer.ts'
import type { OperationId } from '../contract/table.ts'
import * as chain from './chain.ts'
import * as market from './market.ts'
import * as operations from './operations.ts'

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
  getOpenApi: operations.getOpenApi,
  getHome: operations.getHome,
}
