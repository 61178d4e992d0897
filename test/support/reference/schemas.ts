import {
  b32,
  bool,
  bytes,
  container,
  exactly,
  list,
  text,
  u8,
  u16,
  u32,
  u64,
  u64s,
  u128,
  u256,
  type Value,
} from './ssz.ts'
import { GRAMMAR } from './text.ts'

/** For fields without a limit of their own. The size of the block bounds them. */
const UNBOUNDED = 2 ** 32 - 1

const agentId = text(32, GRAMMAR.agentId)
const serviceId = text(48, GRAMMAR.serviceId)
const endpoint = text(200, GRAMMAR.endpoint)
/** Name of an agent, a service or a token. */
export const name = text(64)
const requestFormat = text(240)
const description = text(480)
const settlers = list(b32, 8)

// encoding.md, section 5

export const ACCOUNT_KEYS = container({
  scheme: u8,
  threshold: u8,
  keys: list(container({ scheme: u8, bytes: bytes(1_984) }), 8),
})
export type AccountKeys = Value<typeof ACCOUNT_KEYS>

/** Bytes of the largest AccountKeys: 6, then per key an offset, a scheme, an offset and the key. */
const ACCOUNT_KEYS_MAX = 6 + 8 * (4 + 5 + 1_984)

// transactions.md

export const TRANSACTION = container({ body: bytes(UNBOUNDED), witness: bytes(49_152) })

export const BODY = container({
  version: u8,
  chainId: u32,
  sender: b32,
  nonce: u64,
  kind: u8,
  maxFeeRate: u64,
  tip: u64,
  validUntil: u32,
  memo: bytes(128),
  payload: bytes(UNBOUNDED),
})
export type Body = Value<typeof BODY>

export const WITNESS = container({
  keys: bytes(ACCOUNT_KEYS_MAX),
  signatures: list(container({ keyIndex: u8, bytes: bytes(3_373) }), 8),
})
export type Witness = Value<typeof WITNESS>

export const TRANSFER = container({ to: b32, amount: u128, create: bool })
export const AGENT_REGISTER = container({
  agentId,
  name,
  endpoint,
  capabilities: u16,
  payout: b32,
  settlers,
})
export const AGENT_UPDATE = container({
  agentId,
  name,
  endpoint,
  capabilities: u16,
  owner: b32,
  payout: b32,
  settlers,
})
export const SERVICE_PUBLISH = container({
  agentId,
  serviceId,
  capability: u8,
  priceUsdMicros: u64,
  name,
  requestFormat,
  description,
})
export const SERVICE_RETIRE = container({ agentId, serviceId })
export const AGENT_INVOKE = container({
  agentId,
  serviceId,
  amount: u128,
  units: u32,
  term: u32,
  requestCommitment: b32,
  redeemLock: b32,
})
export const AGENT_RECEIPT = container({
  entries: list(container({ txId: b32, outcome: u8, resultHash: b32, opener: b32, durationMs: u32 }), 256),
})

// blocks.md

export const HEADER = container({
  version: u32,
  height: u32,
  parent: b32,
  timeMs: u64s,
  target: u256,
  transactionsRoot: b32,
  witnessRoot: b32,
  receiptsRoot: b32,
  stateRoot: b32,
  historyRoot: b32,
  miner: b32,
  baseFee: u64,
  weightUsed: u32,
  extra: b32,
  nonce: u64,
})
export type Header = Value<typeof HEADER>

export const BLOCK = container({ header: exactly(324), transactions: list(bytes(UNBOUNDED), 1_024) })

export const TRANSACTION_RECEIPT = container({
  txId: b32,
  code: u16,
  weight: u32,
  rate: u64,
  fee: u128,
  burned: u128,
  entries: list(u8, 256),
  amounts: list(u128, 4),
})
export const REWARD_RECEIPT = container({ height: u32, miner: b32, amount: u128 })
export const REFUND_RECEIPT = container({ txId: b32, caller: b32, amount: u128 })
export const CLOSE_RECEIPT = container({ burned: u128, subsidy: u128, stakingShare: u128, miner: b32, reward: u128 })

// ledgers.md

export const ACCOUNT = container({ version: u8, nonce: u64, balance: u128, auth: b32 })
export const SUPPLY = container({ minted: u128, burned: u128, cap: u128 })
export const STAKING_POOL = container({ accrued: u128 })
export const REWARD = container({ miner: b32, amount: u128 })
export const AGENT = container({
  version: u8,
  owner: b32,
  payout: b32,
  settlers,
  name,
  endpoint,
  capabilities: u16,
  registeredAt: u32,
})
export const STATISTICS = container({ calls: u64s, volume: u128, payers: u64s })
export const SERVICE = container({
  version: u8,
  capability: u8,
  retired: bool,
  priceUsdMicros: u64,
  previousPriceUsdMicros: u64,
  previousPriceLastEpoch: u32,
  name,
  requestFormat,
  description,
  publishedAt: u32,
})
export const ESCROW = container({
  agentId,
  serviceId,
  caller: b32,
  payout: b32,
  amount: u128,
  insider: bool,
  minedAt: u32,
  index: u32,
  deadline: u32,
  requestCommitment: b32,
  redeemLock: b32,
})
export const ESCROW_TOTALS = container({ amount: u128, count: u64s })
