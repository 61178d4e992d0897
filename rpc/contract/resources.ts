import { EVENT, HOLDINGS, POSITION, STAKE, VALUED } from './accounts.ts'
import { AGENT, SERVICE } from './agents.ts'
import { ASSET_AMOUNT, PRICE } from './amounts.ts'
import { COMMITTEE, NETWORK, WITHDRAWAL } from './bridge.ts'
import {
  ACCOUNT,
  BLOCK,
  BLOCK_SUMMARY,
  FEES,
  MERKLE_PROOF,
  RECEIPT_JSON,
  SUBMITTED,
  TRANSACTION_JSON,
  TX_STATUS,
} from './chain.ts'
import { TAB_CLAIM_FACTS, TAB_FACTS } from './chain-tabs.ts'
import { CHAT_ERROR } from './chat.ts'
import { API_KEY } from './chat-keys.ts'
import { CARD, ITEM } from './discovery.ts'
import { CHAT_MODEL_INFO, CHAT_PLATFORM_INFO } from './info.ts'
import { ENTRY, FACILITATOR, OPTION, PAID, PROTOCOL, QUOTE, RECEIPT, REFUND, REQUEST_STATUS } from './market.ts'
import { MINING_JOB } from './mining.ts'
import { STATUS, SYNC } from './operations.ts'
import { BAN, PEER } from './peers.ts'
import { CANDLE, HOP, POOL, SWAP, SWAP_QUOTE } from './pools.ts'
import { RECORD } from './reputation.ts'
import { ERROR } from './route.ts'
import type { Schema } from './schema.ts'
import { CHANNEL_STATE, CLOSING, TAB, TAB_RECEIPT, TAB_TERMS, VOUCHER_STATE } from './tabs.ts'
import { STABLE, TOKEN } from './tokens.ts'

/** The named schemas of the OpenAPI document. Routes refer to them by name. */
export const RESOURCES: Readonly<Record<string, Schema>> = {
  Account: ACCOUNT,
  Agent: AGENT,
  AgentCard: CARD,
  AgentService: SERVICE,
  ApiKey: API_KEY,
  AssetAmount: ASSET_AMOUNT,
  Ban: BAN,
  Block: BLOCK,
  BlockSummary: BLOCK_SUMMARY,
  BridgeNetwork: NETWORK,
  CallRecord: RECORD,
  Candle: CANDLE,
  CatalogueItem: ITEM,
  ChatError: CHAT_ERROR,
  ChatModelInfo: CHAT_MODEL_INFO,
  ChatPlatformInfo: CHAT_PLATFORM_INFO,
  Committee: COMMITTEE,
  Error: ERROR,
  ExecutionReceipt: RECEIPT_JSON,
  FacilitatorEntry: FACILITATOR,
  Fees: FEES,
  HistoryEvent: EVENT,
  Holdings: HOLDINGS,
  MerkleProof: MERKLE_PROOF,
  MiningJob: MINING_JOB,
  NodeStatus: STATUS,
  PaidAnswer: PAID,
  PaidCall: REQUEST_STATUS,
  PaymentOption: OPTION,
  PaymentRequired: QUOTE,
  Peer: PEER,
  Pool: POOL,
  PoolPosition: POSITION,
  Price: PRICE,
  ProtocolDocument: PROTOCOL,
  Receipt: RECEIPT,
  Refund: REFUND,
  RegistryEntry: ENTRY,
  Stake: STAKE,
  StableToken: STABLE,
  SubmittedTransaction: SUBMITTED,
  Swap: SWAP,
  SwapHop: HOP,
  SwapQuote: SWAP_QUOTE,
  SyncProgress: SYNC,
  TabClaim: TAB_CLAIM_FACTS,
  TabFacts: TAB_FACTS,
  Tab: TAB,
  TabClosing: CLOSING,
  TabReceipt: TAB_RECEIPT,
  TabState: CHANNEL_STATE,
  TabTerms: TAB_TERMS,
  TabVoucher: VOUCHER_STATE,
  Token: TOKEN,
  Transaction: TRANSACTION_JSON,
  TransactionStatus: TX_STATUS,
  ValuedAmount: VALUED,
  Withdrawal: WITHDRAWAL,
}
