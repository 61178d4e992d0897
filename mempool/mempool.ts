import type { Chain } from '../consensus/chain/chain.ts'
import type { HeadChange } from '../consensus/chain/events.ts'
import type { BlockEntry } from '../consensus/chain/layout.ts'
import type { Rules } from '../consensus/chain/params.ts'
import { type Pacer, runPaced } from '../consensus/chain/ports.ts'
import type { ChainFollower } from '../consensus/chain/reader.ts'
import type { SignatureVerifier } from '../consensus/crypto/verifier.ts'
import { ACCOUNTS } from '../consensus/ledger/account.ts'
import { fault } from '../consensus/primitives/fault.ts'
import type { Address, BlockId, TxId, WtxId } from '../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import { detached, type Transaction } from '../consensus/tx/transaction.ts'
import { effectiveRate, type MempoolEntry, type Turn } from './account-queue.ts'
import { Admission, checkStanding, mempoolEntry, nextBaseFee, nextHeight, Unpaid } from './admission.ts'
import { Heap } from './heap.ts'
import type { MempoolPolicy } from './policy.ts'
import { Pool } from './pool.ts'
import { Ranking, type Standing } from './ranking.ts'

/** The parts that a mempool works with. */
export interface MempoolDependencies {
  readonly chain: ChainFollower & Pick<Chain, 'verified'>
  readonly verifier: SignatureVerifier
  readonly policy: MempoolPolicy
}

/** Called with each admitted transaction. */
export type AdmissionListener = (tx: Transaction) => void

/** Transactions that wait to be mined. */
export class Mempool {
  readonly #chain: MempoolDependencies['chain']
  readonly #policy: MempoolPolicy
  readonly #pool = new Pool()
  readonly #ranking: Ranking
  readonly #patience = new Patience()
  readonly #unpaid: Unpaid
  readonly #admission: Admission
  readonly #listeners: AdmissionListener[] = []
  readonly #readyListeners: AdmissionListener[] = []
  readonly #ready = new Set<TxId>()
  #rules: Rules
  #sequence = 0
  #floorRate = 0n

  constructor({ chain, verifier, policy }: MempoolDependencies) {
    this.#chain = chain
    this.#policy = policy
    this.#unpaid = new Unpaid(policy)
    this.#rules = chain.ruleBook.at(nextHeight(chain))
    this.#ranking = new Ranking(this.#pool, {
      get headId() {
        return chain.head.id
      },
      get baseFee() {
        return nextBaseFee(chain)
      },
      nonceOf: (address) => this.#nonceOf(address),
    })
    const [pool, ranking, unpaid] = [this.#pool, this.#ranking, this.#unpaid]
    const floorRate = (): bigint => this.#floorRate
    this.#admission = new Admission({ chain, verifier, pool, policy, ranking, unpaid, floorRate })
    chain.onMove((change, pacer) => this.#makeReady(change, pacer))
    chain.onHeadChange((change) => this.#follow(change))
  }

  get count(): number {
    return this.#pool.count
  }

  get bytes(): number {
    return this.#pool.bytes
  }

  get policy(): MempoolPolicy {
    return this.#policy
  }

  get minFeeRate(): bigint {
    const baseFee = nextBaseFee(this.#chain)
    return baseFee > this.#floorRate ? baseFee : this.#floorRate
  }

  onAdmission(listener: AdmissionListener): void {
    this.#listeners.push(listener)
  }

  /** Calls the listener once for every waiting transaction, as soon as no nonce before its own is missing. */
  onReady(listener: AdmissionListener): void {
    this.#readyListeners.push(listener)
  }

  isReady({ txId, body }: Transaction): boolean {
    if (this.#pool.get(txId) === undefined) return false
    const next = this.#nonceOf(body.sender)
    return body.nonce < next + BigInt(this.#pool.account(body.sender)?.executableCount(next) ?? 0)
  }

  /** Calls the listener for every transaction that leaves, mined and replaced ones too. It may come back at once. */
  onRemoval(listener: (tx: Transaction) => void): void {
    this.#pool.onRemoval(({ tx }) => listener(tx))
  }

  /**
   * Protects an account of the operator, whatever its transactions pay: they are never evicted for want of room or for
   * long waiting, and come first among the candidates. The limits on waiting transactions still hold; the limit on
   * admissions before some are mined does not.
   */
  protect(address: Address): void {
    this.#ranking.spare(address)
  }

  get(txId: TxId): Transaction | undefined {
    return this.#pool.get(txId)?.tx
  }

  byWitness(wtxId: WtxId): Transaction | undefined {
    return this.#pool.byWitness(wtxId)?.tx
  }

  /** Waiting transactions in the order for a block: protected accounts first, then by rate. */
  *candidates(): Generator<Transaction> {
    const nonceOf = (address: Address): bigint => this.#nonceOf(address)
    const { spared } = this.#ranking
    const turn = { baseFee: nextBaseFee(this.#chain), nonceOf }
    for (const { tx } of candidatesOf(this.#pool, turn, spared)) yield tx
  }

  transactions(): readonly Transaction[] {
    return [...this.#pool.entries()].map(({ tx }) => tx)
  }

  /** In order of arrival, at most `count` from place `from`. */
  arrivals(from: number, count: number): readonly Transaction[] {
    return [...Iterator.from(this.#pool.entries()).drop(from).take(count)].map(({ tx }) => tx)
  }

  ofAccount(address: Address): readonly Transaction[] {
    return (
      this.#pool
        .account(address)
        ?.entries()
        .map(({ tx }) => tx) ?? []
    )
  }

  /** Lowest nonce of the account that is neither mined nor waiting. */
  nextNonce(address: Address): bigint {
    const nonce = this.#nonceOf(address)
    return nonce + BigInt(this.#pool.account(address)?.executableCount(nonce) ?? 0)
  }

  async submit(tx: Transaction): Promise<Result<Transaction>> {
    const sequence = this.#sequence++
    const refusal = await this.#admission.refusalOf(tx, sequence)
    if (refusal !== null) return fail(refusal)
    // While the signature was checked, the head, its rules or this account may have changed.
    const admitted = this.#admission.admit(tx, sequence)
    if (!admitted.ok) return admitted
    this.#unpaid.took(tx, nextHeight(this.#chain))
    this.#insert(admitted.value)
    if (this.#pool.get(tx.txId) !== undefined) return ok(tx)
    return fail(fault('mempool/full', { minFeeRate: this.minFeeRate.toString() }))
  }

  drop(txId: TxId): void {
    const entry = this.#pool.get(txId)
    if (entry !== undefined) this.#pool.remove(entry)
  }

  #nonceOf(address: Address): bigint {
    return this.#chain.database.get(ACCOUNTS, address)?.nonce ?? 0n
  }

  #measured(tx: Transaction, sequence: number): MempoolEntry {
    return mempoolEntry(tx, this.#chain.ruleBook, nextHeight(this.#chain), sequence)
  }

  #insert(entry: MempoolEntry): void {
    const replaced = this.#pool.insert(entry)
    for (const { rank } of evict(this.#pool, this.#policy, this.#ranking)) {
      if (rank >= this.#floorRate) this.#floorRate = rank + 1n
    }
    if (this.#pool.get(entry.tx.txId) === undefined) {
      // There was room for the replaced transaction before, so it fits again.
      if (replaced !== undefined) this.#pool.insert(replaced)
      return
    }
    for (const listener of this.#listeners) listener(entry.tx)
    if (this.isReady(entry.tx)) this.#tellReady(entry.tx.body.sender)
  }

  #tellReady(address: Address): void {
    for (const { tx } of this.#pool.account(address)?.executable(this.#nonceOf(address)) ?? []) {
      if (this.#ready.has(tx.txId)) continue
      this.#ready.add(tx.txId)
      for (const listener of this.#readyListeners) listener(tx)
    }
  }

  /**
   * Runs before listeners hear of the move; otherwise a reader might miss payments, or use nonces that are taken. If a
   * move is undone, its blocks are among the connected ones too, so their transactions do not come back.
   */
  async #makeReady({ connected, disconnected }: HeadChange, pacer: Pacer): Promise<void> {
    this.#floorRate = 0n
    this.#ranking.forget()
    this.#judgeAnew()
    const rejoined = new Set(connected.map(({ id }) => id))
    const unwound = disconnected.filter(({ id }) => !rejoined.has(id)).reverse()
    await runPaced(this.#takeBack(connected, unwound), pacer)
  }

  *#takeBack(connected: readonly BlockEntry[], unwound: readonly BlockEntry[]): Generator<void, void> {
    for (const { id } of connected) {
      for (const tx of this.#transactionsOf(id)) this.#notePaid(tx)
      yield
    }
    for (const address of this.#addresses()) {
      this.#dropUsed(address)
      yield
    }
    for (const { id } of unwound) {
      for (const tx of this.#transactionsOf(id)) {
        this.#giveBack(tx)
        yield
      }
    }
    for (const address of this.#addresses()) {
      this.#recheck(address)
      yield
    }
  }

  #follow({ connected, disconnected }: HeadChange): void {
    const moved = disconnected.length > 0
    if (!moved) {
      this.#floorRate = 0n
      this.#ranking.forget()
    }
    const touched = moved ? new Set<Address>() : this.#dropMined(connected)
    const rulesChanged = this.#judgeAnew()
    // Only an account's own transactions can lower its balance. After new rules weights may differ, so all are checked.
    for (const address of rulesChanged ? this.#addresses() : touched) this.#recheck(address)
    this.#dropExhausted()
    this.#forgetGone()
    for (const address of moved ? this.#addresses() : touched) this.#tellReady(address)
  }

  #dropMined(connected: readonly BlockEntry[]): ReadonlySet<Address> {
    const touched = new Set<Address>()
    for (const { id } of connected) {
      for (const tx of this.#transactionsOf(id)) {
        touched.add(tx.body.sender)
        this.#notePaid(tx)
        this.drop(tx.txId)
      }
    }
    return touched
  }

  #notePaid({ body }: Transaction): void {
    const waiting = this.#pool.account(body.sender)?.at(body.nonce)
    if (waiting !== undefined) this.#unpaid.paid(waiting.tx, nextHeight(this.#chain))
  }

  #addresses(): readonly Address[] {
    return [...this.#pool.accounts()].map(([owner]) => owner)
  }

  #transactionsOf(id: BlockId): readonly Transaction[] {
    return this.#chain.database.block(id)?.transactions ?? []
  }

  /** Removes transactions that have expired or that new rules forbid. Returns whether the rules changed. */
  #judgeAnew(): boolean {
    const height = nextHeight(this.#chain)
    const rules = this.#chain.ruleBook.at(height)
    const changed = rules !== this.#rules
    this.#rules = rules
    for (const entry of [...this.#pool.entries()]) {
      const { validUntil } = entry.tx.body
      const expired = validUntil !== 0 && validUntil < height
      if (expired || changed) this.#pool.remove(entry)
      if (expired || !changed) continue
      const measured = this.#measured(entry.tx, entry.sequence)
      if (checkStanding(measured, this.#chain) === null) this.#pool.insert(measured)
    }
    return changed
  }

  /** An unwound transaction was valid once, so it skips the fee floor and the account's limits. */
  #giveBack(tx: Transaction): void {
    const { sender, nonce } = tx.body
    const next = this.#nonceOf(sender)
    const queue = this.#pool.account(sender)
    if (nonce < next || queue?.at(nonce) !== undefined) return
    // The pool is full, and a nonce before this one is missing: the transaction could not be mined, only take room.
    const follows = nonce === next + BigInt(queue?.executableCount(next) ?? 0)
    if (!follows && this.#floorRate > 0n) return
    const entry = this.#measured(detached(tx), this.#sequence++)
    if (checkStanding(entry, this.#chain) !== null) return
    this.#chain.verified.add(tx.wtxId)
    this.#insert(entry)
  }

  #dropUsed(address: Address): void {
    const next = this.#nonceOf(address)
    for (const entry of this.#pool.account(address)?.entries() ?? []) {
      if (entry.tx.body.nonce >= next) break
      this.#pool.remove(entry)
    }
  }

  /** Drops from the highest nonce down, on which no other depends, until the balance covers what is left. */
  #recheck(address: Address): void {
    const account = this.#chain.database.get(ACCOUNTS, address)
    if (account !== undefined) this.#dropUsed(address)
    for (let queue = this.#pool.account(address); queue !== undefined; queue = this.#pool.account(address)) {
      const last = queue.last()
      if (last === undefined || queue.needs() <= (account?.balance ?? 0n)) return
      this.#pool.remove(last)
    }
  }

  #forgetGone(): void {
    this.#unpaid.forget((txId) => this.#pool.get(txId) !== undefined)
    for (const txId of this.#ready) if (this.#pool.get(txId) === undefined) this.#ready.delete(txId)
  }

  #dropExhausted(): void {
    const baseFee = nextBaseFee(this.#chain)
    const turnOf = (address: Address): Turn => ({ nonce: this.#nonceOf(address), baseFee })
    const limit = { height: nextHeight(this.#chain), blocksMax: this.#policy.unminableBlocksMax, turnOf }
    for (const entry of this.#patience.exhausted(this.#pool, limit)) {
      if (!this.#ranking.spared.has(entry.tx.body.sender)) this.#pool.remove(entry)
    }
  }
}

/** A pool beyond its limits is emptied to a twentieth below them, so that not every arrival evicts. */
const SLACK_DIVISOR = 20

/**
 * Evicts until there is some slack: always the last transaction of an account, since no other depends on it. Those that
 * no block can take go first, then those that a block would take last.
 */
export function evict(pool: Pool, policy: MempoolPolicy, ranking: Ranking): readonly Standing[] {
  if (pool.count <= policy.countMax && pool.bytes <= policy.bytesMax) return []
  const countMax = policy.countMax - Math.floor(policy.countMax / SLACK_DIVISOR)
  const bytesMax = policy.bytesMax - Math.floor(policy.bytesMax / SLACK_DIVISOR)
  const evicted: Standing[] = []
  while (pool.count > countMax || pool.bytes > bytesMax) {
    const worst = ranking.worst()
    // Only protected accounts are left, which the limits of an account bound.
    if (worst === undefined) break
    pool.remove(worst.entry)
    evicted.push(worst)
  }
  return evicted
}

/**
 * Entries that a block can take, highest rate first, each account's in nonce order. An entry below the base fee is left
 * out with all that follow it in its account.
 */
export function* candidatesOf(
  pool: Pool,
  turn: MiningTurn,
  preferred: ReadonlySet<Address> = new Set(),
): Generator<MempoolEntry> {
  const addresses = [...pool.accounts()].map(([address]) => address)
  const own = addresses.filter((address) => preferred.has(address))
  const others = addresses.filter((address) => !preferred.has(address))
  yield* dearest(pool, own, turn)
  yield* dearest(pool, others, turn)
}

interface MiningTurn {
  readonly baseFee: bigint
  nonceOf(address: Address): bigint
}

function* dearest(
  pool: Pool,
  addresses: readonly Address[],
  { baseFee, nonceOf }: MiningTurn,
): Generator<MempoolEntry> {
  const heap = new RateHeap(baseFee)
  const runs = new Map<Address, Iterator<MempoolEntry>>()
  const pushNext = (address: Address): void => {
    const next = runs.get(address)?.next()
    if (next !== undefined && !next.done && next.value.tx.body.maxFeeRate >= baseFee) heap.push(next.value)
  }
  for (const address of addresses) {
    const run = pool.account(address)?.executable(nonceOf(address)) ?? []
    runs.set(address, run.values())
    pushNext(address)
  }
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
    yield entry
    pushNext(entry.tx.body.sender)
  }
}

interface Rated {
  readonly rate: bigint
  readonly entry: MempoolEntry
}

/** On a tie the earlier arrival comes first. */
export class RateHeap {
  readonly #heap = new Heap<Rated>((a, b) =>
    a.rate !== b.rate ? a.rate > b.rate : a.entry.sequence < b.entry.sequence,
  )
  readonly #baseFee: bigint

  constructor(baseFee: bigint) {
    this.#baseFee = baseFee
  }

  push(entry: MempoolEntry): void {
    this.#heap.push({ rate: effectiveRate(entry, this.#baseFee), entry })
  }

  pop(): MempoolEntry | undefined {
    return this.#heap.pop()?.entry
  }
}

/** Unminable transactions pay nothing for their place, so they lose it in time. */
class Patience {
  /** The height at which each was found unminable. */
  #since = new Map<TxId, number>()

  /** Updates the waits under a new head; returns the entries whose allowed number of blocks is over. */
  exhausted(
    pool: Pool,
    { height, blocksMax, turnOf }: { height: number; blocksMax: number; turnOf: (address: Address) => Turn },
  ): readonly MempoolEntry[] {
    const unminable = [...pool.accounts()].flatMap(([address, queue]) => queue.unminable(turnOf(address)))
    this.#since = new Map(unminable.map(({ tx }) => [tx.txId, this.#since.get(tx.txId) ?? height]))
    return unminable.filter(({ tx }) => height - (this.#since.get(tx.txId) ?? height) >= blocksMax)
  }
}
