import type { HybridPublicKey } from '../../consensus/crypto/hybrid.ts'
import { isKeyScheme } from '../../consensus/crypto/schemes.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { HOPS_MAX } from '../../consensus/tx/asset-payloads.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { HOLDINGS, POSITION, STAKE } from '../contract/accounts.ts'
import { AGENT, SERVICE } from '../contract/agents.ts'
import { AMOUNT_TEXT, ASSET_AMOUNT, orNull } from '../contract/amounts.ts'
import { COMMITTEE, MEMBER, WITHDRAWAL } from '../contract/bridge.ts'
import { POOL } from '../contract/pools.ts'
import { COUNT, HEX_32 } from '../contract/route.ts'
import type { Decoded, Schema } from '../contract/schema.ts'
import * as Type from '../contract/schema.ts'
import { type CHANGE, SIMULATED } from '../contract/simulation.ts'
import { STABLE, TOKEN } from '../contract/tokens.ts'
import { postBytes } from './http.ts'
import { decodedAnswer, NodeClient } from './node-client.ts'

/** An amount of an asset in base units. */
export const UNITS = Type.Pick(ASSET_AMOUNT, ['symbol', 'decimals', 'units'])
/** An amount of an asset in base units. */
export type UnitsView = Decoded<typeof UNITS>
/** An asset and its decimals. */
export type AssetView = Omit<UnitsView, 'units'>

/** The answer of `/api/v1/tokens/{symbol}`. */
export const TOKEN_ANSWER = Type.memberOf('token', Type.Pick(TOKEN, ['symbol', 'decimals', 'frozen', 'hidden']))
/** The facts of a token that transactions need. */
export type TokenView = Decoded<typeof TOKEN_ANSWER>

const STABLE_PART = Type.Object({ ...Type.Pick(STABLE, ['symbol']).properties, supply: UNITS, reserve: UNITS })
/** The answer of `/api/v1/stables`. */
export const STABLES_ANSWER = Type.memberOf('stables', Type.Array(STABLE_PART))
/** A stable token with its backing. */
export type StableView = Decoded<typeof STABLE_PART>

const FEE_BPS_BOUND = 10_000
const FEE_BPS = Type.decodedBy(COUNT, (bps) => (bps < FEE_BPS_BOUND ? bps : undefined))
/** A name from the node, which is not trusted. */
const LABEL = Type.String()
const POOL_PART = Type.Object({
  ...Type.Pick(POOL, ['id', 'shares']).properties,
  ...{ name: LABEL, feeBps: FEE_BPS, x: UNITS, y: UNITS },
})
/** `shares` includes the locked shares. */
export type PoolView = Decoded<typeof POOL_PART>
/** Amounts must be above zero, since clients divide by them. */
export const POOL_ANSWER = Type.decodedBy(Type.memberOf('pool', POOL_PART), (pool) => {
  const { x, y, shares } = pool
  return x.units > 0n && y.units > 0n && shares > 0n && x.symbol !== y.symbol ? pool : undefined
})

const HOP_PART = Type.Object({ pool: LABEL, feeBps: FEE_BPS, out: UNITS })
/** One pool of a quoted route. */
export type HopView = Decoded<typeof HOP_PART>
/** A route over more than {@link HOPS_MAX} pools is refused, since no swap can use it. */
export const QUOTE_ANSWER = Type.decodedBy(
  Type.Object({ amountIn: UNITS, amountOut: UNITS, route: Type.Array(HOP_PART) }),
  (quote) => (quote.route.length > 0 && quote.route.length <= HOPS_MAX ? quote : undefined),
)
/** What a swap would give at the head. */
export type QuoteView = Decoded<typeof QUOTE_ANSWER>

const POSITION_PART = Type.Object({
  ...Type.Pick(POSITION, ['poolId', 'pool', 'shares']).properties,
  x: UNITS,
  y: UNITS,
})
const STAKE_PART = Type.Object({
  ...Type.Pick(STAKE, ['tier', 'unlocksAt', 'unlocked']).properties,
  ...{ stakeId: HEX_32 as Schema<string, TxId>, staked: UNITS, pending: UNITS },
})
/** The node lists at most 100 of each kind. */
export const HOLDINGS_ANSWER = Type.Object({
  truncated: Type.Pick(HOLDINGS.properties.truncated, ['tokens', 'positions', 'stakes']),
  ...{ native: UNITS, tokens: Type.Array(UNITS) },
  ...{ positions: Type.Array(POSITION_PART), stakes: Type.Array(STAKE_PART) },
})
/** What an address holds. */
export type HoldingsView = Decoded<typeof HOLDINGS_ANSWER>

/** `of` names the record. Null before or after means that it does not exist then. */
export type ChangeView = Decoded<typeof CHANGE>
/** `code` is the API code of the failure, `error` a sentence. */
export const SIMULATION_ANSWER = Type.decodedBy(
  Type.Pick(SIMULATED, ['wouldMine', 'success', 'code', 'fault', 'fee', 'amounts', 'changes']),
  ({ fault: refusal, amounts, ...simulation }) => ({
    ...simulation,
    amounts: amounts.map(String),
    code: simulation.code ?? (simulation.success ? null : (refusal?.code ?? 'no code')),
    error: refusal?.error ?? null,
  }),
)
/** What a transaction would do if it were alone in the next block. */
export type SimulationView = Decoded<typeof SIMULATION_ANSWER>

const MEMBER_KEY = Type.decodedBy(
  Type.Pick(MEMBER, ['scheme', 'key']),
  ({ scheme, key }): HybridPublicKey | undefined => (isKeyScheme(scheme) ? { scheme, bytes: fromHex(key) } : undefined),
)
const COMMITTEE_PART = Type.Object({
  ...Type.Pick(COMMITTEE, ['epoch', 'threshold', 'haltThreshold']).properties,
  keys: Type.Array(MEMBER_KEY),
})
/** Null if the network has no committee. */
export const COMMITTEE_ANSWER = Type.memberOf('committee', orNull(COMMITTEE_PART))
/** The committee facts that signing needs. */
export type CommitteeView = Decoded<typeof COMMITTEE_PART>

const WITHDRAWAL_PART = Type.Object({
  ...Type.Pick(WITHDRAWAL, ['recipient', 'status']).properties,
  ...{ network: Type.memberOf('number', COUNT), receives: UNITS },
})
/** The answer of `/api/v1/bridge/withdrawals/{id}`. */
export const WITHDRAWAL_ANSWER = Type.memberOf('withdrawal', WITHDRAWAL_PART)
/** The withdrawal facts that signing needs. */
export type WithdrawalView = Decoded<typeof WITHDRAWAL_PART>

/** Success follows from `code` alone, not from what the node says beside it. */
export const RECEIPT_PART = Type.decodedBy(
  Type.Object({
    ...{ code: COUNT, fee: AMOUNT_TEXT, amounts: Type.Array(AMOUNT_TEXT) },
    outcome: Type.Optional(Type.Unknown()),
  }),
  ({ outcome, ...receipt }) => ({
    ...receipt,
    success: receipt.code === 0,
    /** Internal code of the failure. Null for success, and for numbers that the node does not know. */
    outcome: typeof outcome === 'string' ? outcome : null,
  }),
)
/** Outcome of a mined transaction. Amounts are in base units. */
export type ReceiptView = Decoded<typeof RECEIPT_PART>

/** The answer of `/api/v1/agents/{id}`. */
export const AGENT_ANSWER = Type.memberOf(
  'agent',
  Type.Object({
    ...Type.Pick(AGENT, ['agentId', 'name', 'endpoint', 'capabilities', 'owner', 'payout', 'settlers']).properties,
    services: Type.Array(Type.Pick(SERVICE, ['serviceId', 'name', 'description', 'requestFormat', 'capability'])),
  }),
)
/** An agent of the registry. */
export type AgentView = Decoded<typeof AGENT_ANSWER>

/** Typed access to a node's ledgers: tokens, pools, holdings, agents, bridge, simulation. */
export class LedgerClient extends NodeClient {
  /** A token, or the native coin. */
  token(symbol: string): Promise<Result<TokenView>> {
    return this.read('/api/v1/tokens/{symbol}', { symbol }, TOKEN_ANSWER)
  }

  stables(): Promise<Result<readonly StableView[]>> {
    return this.read('/api/v1/stables', {}, STABLES_ANSWER)
  }

  /** A pool by id, or by a name such as `FAR-FUSD-30`. */
  pool(id: string): Promise<Result<PoolView>> {
    return this.read('/api/v1/pools/{id}', { id }, POOL_ANSWER)
  }

  /** What a swap of `amount` gives, or what a swap for `amountOut` takes. Both are decimal text in whole units. */
  quote(swap: Readonly<Record<string, string>>): Promise<Result<QuoteView>> {
    return this.read('/api/v1/quote', {}, QUOTE_ANSWER, swap)
  }

  holdings(address: string): Promise<Result<HoldingsView>> {
    return this.read('/api/v1/accounts/{address}/holdings', { address }, HOLDINGS_ANSWER)
  }

  agent(id: string): Promise<Result<AgentView>> {
    return this.read('/api/v1/agents/{id}', { id }, AGENT_ANSWER)
  }

  /** The node does not verify signatures: send none that could be used. */
  async simulate(tx: Transaction): Promise<Result<SimulationView>> {
    const path = '/api/v1/tx/simulate'
    return decodedAnswer(
      path,
      await postBytes(this.baseUrl, path, encodeTransaction(tx), this.transport),
      SIMULATION_ANSWER,
    )
  }

  /** Fault: `bridge/closed`. */
  async committee(): Promise<Result<CommitteeView>> {
    const committee = await this.read('/api/v1/bridge', {}, COMMITTEE_ANSWER)
    if (!committee.ok) return committee
    return committee.value === null ? fail(fault('bridge/closed', { network: 'any other' })) : ok(committee.value)
  }

  /** By the id of its transaction. */
  withdrawal(id: string): Promise<Result<WithdrawalView>> {
    return this.read('/api/v1/bridge/withdrawals/{id}', { id }, WITHDRAWAL_ANSWER)
  }
}
