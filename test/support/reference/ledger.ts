import { concat, hex, tagged, unhex, utf8, ZERO32 } from './bytes.ts'
import { ACCOUNT, AGENT, ESCROW, ESCROW_TOTALS, REWARD, SERVICE, STAKING_POOL, STATISTICS, SUPPLY } from './schemas.ts'
import type { Ssz, Value } from './ssz.ts'

/** All records by their key in hex. */
export type Records = Map<string, Uint8Array>

/** One table of ledgers.md over the records; ids are hex. */
class Table<T> {
  readonly #records: Records
  readonly #prefix: string
  readonly #type: Ssz<T>

  constructor(records: Records, prefix: number, type: Ssz<T>) {
    this.#records = records
    this.#prefix = hex(Uint8Array.of(prefix))
    this.#type = type
  }

  get(id: string): T | undefined {
    const record = this.#records.get(this.#prefix + id)
    return record === undefined ? undefined : this.#type.decode(record)
  }

  /** The record, which must be there. */
  of(id: string): T {
    const record = this.get(id)
    if (record === undefined) throw new Error(`no record ${this.#prefix} ${id}`)
    return record
  }

  set(id: string, value: T): void {
    this.#records.set(this.#prefix + id, this.#type.encode(value))
  }

  delete(id: string): void {
    this.#records.delete(this.#prefix + id)
  }

  all(): [string, T][] {
    return [...this.#records]
      .filter(([key]) => key.startsWith(this.#prefix))
      .map(([key, record]) => [key.slice(2), this.#type.decode(record)])
  }
}

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

/** The tables over one map of records. */
export class Ledger {
  readonly records: Records
  readonly accounts: Table<Value<typeof ACCOUNT>>
  readonly supply: Table<Value<typeof SUPPLY>>
  readonly stakingPool: Table<Value<typeof STAKING_POOL>>
  readonly rewards: Table<Value<typeof REWARD>>
  readonly agents: Table<Value<typeof AGENT>>
  readonly agentStatistics: Table<Value<typeof STATISTICS>>
  readonly services: Table<Value<typeof SERVICE>>
  readonly serviceStatistics: Table<Value<typeof STATISTICS>>
  readonly escrows: Table<Value<typeof ESCROW>>
  readonly escrowTotals: Table<Value<typeof ESCROW_TOTALS>>

  constructor(records: Records) {
    this.records = records
    this.accounts = new Table(records, 0x01, ACCOUNT)
    this.supply = new Table(records, 0x02, SUPPLY)
    this.stakingPool = new Table(records, 0x03, STAKING_POOL)
    this.rewards = new Table(records, 0x04, REWARD)
    this.agents = new Table(records, 0x60, AGENT)
    this.agentStatistics = new Table(records, 0x61, STATISTICS)
    this.services = new Table(records, 0x62, SERVICE)
    this.serviceStatistics = new Table(records, 0x63, STATISTICS)
    this.escrows = new Table(records, 0x65, ESCROW)
    this.escrowTotals = new Table(records, 0x66, ESCROW_TOTALS)
  }

  /** Adds to a balance; `open` makes the account if there is none. */
  credit(address: string, amount: bigint, open = false): void {
    const empty = { version: 1, nonce: 0n, balance: 0n, auth: ZERO32 }
    const account = this.accounts.get(address) ?? (open ? empty : this.accounts.of(address))
    this.accounts.set(address, { ...account, balance: account.balance + amount })
  }

  debit(address: string, amount: bigint): void {
    this.credit(address, -amount)
  }

  burn(amount: bigint): void {
    const supply = this.supply.of(NATIVE)
    this.supply.set(NATIVE, { ...supply, burned: supply.burned + amount })
  }

  /** Marks the caller as a payer of the service; false if it already was one. */
  markPayer(caller: string, agentId: string, serviceId: string): boolean {
    const key = `64${payerKey(caller, agentId, serviceId)}`
    if (this.records.has(key)) return false
    this.records.set(key, Uint8Array.of(1))
    return true
  }

  /** Moves the totals of open escrows. */
  moveTotals(amount: bigint, count: number): void {
    const totals = this.escrowTotals.get('') ?? { amount: 0n, count: 0 }
    this.escrowTotals.set('', { amount: totals.amount + amount, count: totals.count + count })
  }

  /** Throws unless minted - burned equals all places coins can be in, and the totals equal the escrows. */
  audit(): void {
    const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)
    const supply = this.supply.of(NATIVE)
    const escrows = this.escrows.all().map(([, { amount }]) => amount)
    const places =
      sum(this.accounts.all().map(([, { balance }]) => balance)) +
      sum(this.rewards.all().map(([, { amount }]) => amount)) +
      (this.stakingPool.get('')?.accrued ?? 0n) +
      sum(escrows)
    if (supply.minted - supply.burned !== places)
      throw new Error(`supply ${supply.minted - supply.burned}, places ${places}`)
    const totals = this.escrowTotals.get('') ?? { amount: 0n, count: 0 }
    if (totals.amount !== sum(escrows) || totals.count !== escrows.length)
      throw new Error(`escrow totals ${totals.amount} in ${totals.count}, escrows ${sum(escrows)} in ${escrows.length}`)
  }
}
