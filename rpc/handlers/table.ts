import { callA2a } from '../a2a/endpoint.ts'
import { call, callService, quoteService } from '../cashier/cashier.ts'
import * as chat from '../chat/chat-handlers.ts'
import * as dashboard from '../chat/dashboard/dashboard-handlers.ts'
import * as chatKeys from '../chat/keys/key-handlers.ts'
import * as voice from '../chat/voice-handlers.ts'
import type { OperationId } from '../contract/table.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { Answered, RequestOf } from '../server/answer.ts'
import * as accounts from './accounts.ts'
import * as agents from './agents.ts'
import * as bridge from './bridge.ts'
import * as chain from './chain.ts'
import * as chainTabs from './chain-tabs.ts'
import * as discovery from './discovery.ts'
import { followEvents } from './events.ts'
import * as facilitator from './facilitator.ts'
import * as info from './info.ts'
import * as market from './market.ts'
import * as mining from './mining.ts'
import * as operations from './operations.ts'
import * as peers from './peers.ts'
import * as pools from './pools.ts'
import { getQuote } from './quote.ts'
import { simulateTransaction } from './simulation.ts'
import { getStaking } from './staking.ts'
import * as tabs from './tabs.ts'
import * as tokens from './tokens.ts'
import { tryService } from './trials.ts'

/** A missing handler, or one with another answer than its route, does not compile. */
export const HANDLERS: {
  readonly [K in OperationId]: (node: NodeApi, request: RequestOf<K>) => Answered<K> | Promise<Answered<K>>
} = {
  submitTransaction: chain.submitTransaction,
  submitTransactionAlias: chain.submitTransaction,
  listBlocks: chain.listBlocks,
  getBlock: chain.getBlock,
  getAncestry: chain.getAncestry,
  getTransaction: chain.getTransaction,
  getAccount: chain.getAccount,
  getMempool: chain.getMempool,
  getFees: chain.getFees,
  simulateTransaction,
  getHistory: accounts.getHistory,
  getHoldings: accounts.getHoldings,
  listTokens: tokens.listTokens,
  getToken: tokens.getToken,
  listHolders: tokens.listHolders,
  listStables: tokens.listStables,
  listPools: pools.listPools,
  getPool: pools.getPool,
  listCandles: pools.listCandles,
  listSwaps: pools.listSwaps,
  getQuote,
  getStaking,
  getBridge: bridge.getBridge,
  getBridgeNetwork: bridge.getBridgeNetwork,
  getWithdrawal: bridge.getWithdrawal,
  listAgents: agents.listAgents,
  getAgent: agents.getAgent,
  listTabs: chainTabs.listTabs,
  getTabFacts: chainTabs.getTabFacts,
  listTabClaims: chainTabs.listTabClaims,
  listAccountTabs: chainTabs.listAccountTabs,
  listAgentTabs: chainTabs.listAgentTabs,
  call,
  callService,
  quoteService,
  openTab: tabs.openTab,
  getTab: tabs.getTab,
  listTabReceipts: tabs.listTabReceipts,
  getExample: market.getExample,
  listServices: market.listServices,
  getProtocol: market.getProtocol,
  getProtocolJson: market.getProtocol,
  listRequests: market.listRequests,
  getRequest: market.getRequest,
  // The MCP library is large, so the first call loads it.
  callMcp: async (node, request) => (await import('../mcp/endpoint.ts')).callMcp(node, request),
  callA2a,
  getFacilitatorKinds: facilitator.getFacilitatorKinds,
  verifyPayment: facilitator.verifyPayment,
  settlePayment: facilitator.settlePayment,
  getFacilitatorOffer: facilitator.getFacilitatorOffer,
  listResources: discovery.listResources,
  listFacilitatorResources: discovery.listResources,
  searchResources: discovery.searchResources,
  getAgentCard: discovery.getAgentCard,
  getAgentJson: discovery.getAgentCard,
  getLlms: discovery.getLlms,
  getLlmsFull: discovery.getLlmsFull,
  getRobots: discovery.getRobots,
  getSitemap: discovery.getSitemap,
  getCatalogue: discovery.getCatalogue,
  getServicePage: discovery.getServicePage,
  followEvents,
  createSpeech: voice.createSpeech,
  createSpeechAlias: voice.createSpeech,
  createVoice: voice.createVoice,
  createChatCompletion: chat.createChatCompletion,
  createChatCompletionAlias: chat.createChatCompletion,
  listChatModels: chat.listChatModels,
  listChatModelsAlias: chat.listChatModels,
  getChatModel: chat.getChatModel,
  getChatModelAlias: chat.getChatModel,
  listKeys: chatKeys.listKeys,
  createKey: chatKeys.createKey,
  changeKey: chatKeys.changeKey,
  revokeKey: chatKeys.revokeKey,
  getDashboard: dashboard.getDashboard,
  signIn: dashboard.signIn,
  signOut: dashboard.signOut,
  makeKey: dashboard.makeKey,
  getKeyPage: dashboard.getKeyPage,
  saveKey: dashboard.saveKey,
  endKey: dashboard.endKey,
  getApiIndex: info.getApiIndex,
  getChatInfo: info.getChatInfo,
  listChatModelInfos: info.listChatModelInfos,
  getChatModelInfo: info.getChatModelInfo,
  getChatComparison: info.getChatComparison,
  getInfoOpenApi: operations.getOpenApi,
  askChatInfo: info.askChatInfo,
  getChatPage: info.getChatPage,
  getMiningTemplate: mining.getMiningTemplate,
  submitWork: mining.submitWork,
  followMiningJobs: mining.followMiningJobs,
  tryService,
  listPeers: peers.listPeers,
  listBans: peers.listBans,
  banPeer: peers.banPeer,
  unbanPeer: peers.unbanPeer,
  getStatus: operations.getStatus,
  getHealth: operations.getHealth,
  getReady: operations.getReady,
  getMetrics: operations.getMetrics,
  getOpenApi: operations.getOpenApi,
  getHome: operations.getHome,
}
