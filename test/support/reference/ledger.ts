import { COMMITTEE, DEPOSIT, NETWORK, WITHDRAWAL } from './bridge-schemas.ts'
import { concat, hex, tagged, unhex, utf8, ZERO32 } from './bytes.ts'
import {
  POOL,
  POOL_SHARES,
  PRICE_ENTRY,
  SKELETON,
  STABLE_RESERVE,
  STAKE_RECORD,
  STAKING,
  TOKEN,
  TOKEN_BALANCE,
} from './money-schemas.ts'
import { need } from './outcome.ts'
import { ACCOUNT, AGENT, ESCROW, ESCROW_TOTALS, REWARD, SERVICE, STAKING_POOL, STATISTICS, SUPPLY } from './schemas.ts'
import type { Value } from './ssz.ts'
import { TAB, TAB_TOTALS, TERMS_OF_TABS } from './tab-schemas.ts'
import { type Records, Table } from './table.ts'

export const NATIVE = ZERO32
export const NO_STATISTICS: Value<typeof STATISTICS> = { calls: 0, volume: 0n, payers: 0 }

/** Id of a height: 4 bytes, big-endian. */
export function heightId(height: number): string {
  return height.toString(16).padStart(8, '0')
}

export function agentKey(agentId: string): string {
  return hex(utf8(agentId))
}

export function serviceKey(agentId: string, serviceId: string): string {
  return hex(utf8(`${agentId}/${serviceId}`))
}

export function payerKey(caller: string, agentId: string, serviceId: string): string {
  return hex(tagged('payer', concat(unhex(caller), utf8(`${agentId}/${serviceId}`))))
}

/** Id of a bridge network: its number in 1 byte. */
export function networkId(network: number): string {
  return hex(Uint8Array.of(network))
}

/** Asset id of a symbol: ledgers.md, section 5. */
export function assetOf(symbol: string, native: string): string {
  return symbol === native ? NATIVE : hex(utf8(symbol)).padEnd(64, '0')
}

/** Sets a record, or deletes it if its amount is 0. */
function setOrDelete<F extends string>(table: Table<Record<F, bigint>>, id: string, field: F, value: bigint): void {
  if (value === 0n) table.delete(id)
  else table.set(id, { [field]: value } as Record<F, bigint>)
}

/** The tables over one map of records. */
export class Ledger {
  readonly records: Records
  readonly accounts: Table<Value<typeof ACCOUNT>>
  readonly supply: Table<Value<typeof SUPPLY>>
  readonly stakingPool: Table<Value<typeof STAKING_POOL>>
  readonly rewards: Table<Value<typeof REWARD>>
  readonly tokens: Table<Value<typeof TOKEN>>
  readonly skeletons: Table<Value<typeof SKELETON>>
  readonly balances: Table<Value<typeof TOKEN_BALANCE>>
  readonly stableReserves: Table<Value<typeof STABLE_RESERVE>>
  readonly pools: Table<Value<typeof POOL>>
  readonly poolShares: Table<Value<typeof POOL_SHARES>>
  readonly prices: Table<Value<typeof PRICE_ENTRY>>
  readonly staking: Table<Value<typeof STAKING>>
  readonly stakes: Table<Value<typeof STAKE_RECORD>>
  readonly committee: Table<Value<typeof COMMITTEE>>
  readonly networks: Table<Value<typeof NETWORK>>
  readonly deposits: Table<Value<typeof DEPOSIT>>
  readonly withdrawals: Table<Value<typeof WITHDRAWAL>>
  readonly agents: Table<Value<typeof AGENT>>
  readonly agentStatistics: Table<Value<typeof STATISTICS>>
  readonly services: Table<Value<typeof SERVICE>>
  readonly serviceStatistics: Table<Value<typeof STATISTICS>>
  readonly escrows: Table<Value<typeof ESCROW>>
  readonly escrowTotals: Table<Value<typeof ESCROW_TOTALS>>
  readonly tabs: Table<Value<typeof TAB>>
  readonly tabTotals: Table<Value<typeof TAB_TOTALS>>
  readonly tabTerms: Table<Value<typeof TERMS_OF_TABS>>

  constructor(records: Records) {
    this.records = records
    this.accounts = new Table(records, 0x01, ACCOUNT)
    this.supply = new Table(records, 0x02, SUPPLY)
    this.stakingPool = new Table(records, 0x03, STAKING_POOL)
    this.rewards = new Table(records, 0x04, REWARD)
    this.tokens = new Table(records, 0x10, TOKEN)
    this.skeletons = new Table(records, 0x11, SKELETON)
    this.balances = new Table(records, 0x12, TOKEN_BALANCE)
    this.stableReserves = new Table(records, 0x13, STABLE_RESERVE)
    this.pools = new Table(records, 0x20, POOL)
    this.poolShares = new Table(records, 0x21, POOL_SHARES)
    this.prices = new Table(records, 0x22, PRICE_ENTRY)
    this.staking = new Table(records, 0x30, STAKING)
    this.stakes = new Table(records, 0x31, STAKE_RECORD)
    this.committee = new Table(records, 0x40, COMMITTEE)
    this.networks = new Table(records, 0x41, NETWORK)
    this.deposits = new Table(records, 0x42, DEPOSIT)
    this.withdrawals = new Table(records, 0x43, WITHDRAWAL)
    this.agents = new Table(records, 0x60, AGENT)
    this.agentStatistics = new Table(records, 0x61, STATISTICS)
    this.services = new Table(records, 0x62, SERVICE)
    this.serviceStatistics = new Table(records, 0x63, STATISTICS)
    this.escrows = new Table(records, 0x65, ESCROW)
    this.escrowTotals = new Table(records, 0x66, ESCROW_TOTALS)
    this.tabs = new Table(records, 0x67, TAB)
    this.tabTotals = new Table(records, 0x68, TAB_TOTALS)
    this.tabTerms = new Table(records, 0x69, TERMS_OF_TABS)
  }

  balance(address: string, asset: string): bigint {
    if (asset === NATIVE) return this.accounts.get(address)?.balance ?? 0n
    return this.balances.get(address + asset)?.amount ?? 0n
  }

  /** Takes an amount from an account, as "takes" in ledgers.md. */
  take(address: string, asset: string, amount: bigint): void {
    need(this.balance(address, asset) >= amount, 'insufficientBalance')
    this.#move(address, asset, -amount)
  }

  /** Gives an amount to an account, as "gives" in ledgers.md. `create` opens an absent account. */
  give(address: string, asset: string, amount: bigint, create = false): void {
    need(create || this.accounts.get(address) !== undefined, 'noAccount')
    this.credit(address, 0n, true)
    this.#move(address, asset, amount)
  }

  #move(address: string, asset: string, amount: bigint): void {
    if (asset === NATIVE) this.credit(address, amount)
    else setOrDelete(this.balances, address + asset, 'amount', this.balance(address, asset) + amount)
  }

  moveShares(address: string, pool: string, shares: bigint): void {
    setOrDelete(this.poolShares, address + pool, 'shares', (this.poolShares.get(address + pool)?.shares ?? 0n) + shares)
  }

  /** Adds to a native balance. `open` makes the account if it is absent. */
  credit(address: string, amount: bigint, open = false): void {
    const empty = { version: 1, nonce: 0n, balance: 0n, auth: ZERO32 }
    const account = this.accounts.get(address) ?? (open ? empty : this.accounts.of(address))
    this.accounts.set(address, { ...account, balance: account.balance + amount })
  }

  debit(address: string, amount: bigint): void {
    this.credit(address, -amount)
  }

  burn(amount: bigint, asset = NATIVE): void {
    const supply = this.supply.of(asset)
    this.supply.set(asset, { ...supply, burned: supply.burned + amount })
  }

  mint(amount: bigint, asset: string): void {
    const supply = this.supply.of(asset)
    this.supply.set(asset, { ...supply, minted: supply.minted + amount })
  }

  /** Marks the caller as a payer of the service; false if it already was one. */
  markPayer(caller: string, agentId: string, serviceId: string): boolean {
    const key = `64${payerKey(caller, agentId, serviceId)}`
    if (this.records.has(key)) return false
    this.records.set(key, Uint8Array.of(1))
    return true
  }

  /** Changes the totals of open escrows. */
  moveTotals(amount: bigint, count: number): void {
    const totals = this.escrowTotals.get('') ?? { amount: 0n, count: 0 }
    this.escrowTotals.set('', { amount: totals.amount + amount, count: totals.count + count })
  }
}
