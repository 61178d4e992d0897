import type { Chain } from '../consensus/chain/chain.ts'
import type { HeadChange } from '../consensus/chain/events.ts'
import type { SignatureVerifier } from '../consensus/crypto/verifier.ts'
import { ACCOUNTS } from '../consensus/ledger/account.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { Address, BlockId, TxId } from '../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import { carriedKeys, signatureJob } from '../consensus/tx/check.ts'
import { detached, type Transaction } from '../consensus/tx/transaction.ts'
import { type AdmissionContext, checkAdmission, nextBaseFee, nextHeight } from './admission.ts'
import { effectiveRate, type MempoolEntry, mempoolEntry } from './entry.ts'
import { evict } from './eviction.ts'
import type { MempoolPolicy } from './policy.ts'
import { Pool } from './pool.ts'

/** What a mempool works with. */
export interface MempoolDependencies {
  readonly chain: Chain
  readonly verifier: SignatureVerifier
  readonly policy: MempoolPolicy
}

/** Hears of a transaction that was admitted. */
export type AdmissionListener = (tx: Transaction) => void

/**
 * Transactions that wait to be mined: staged admission with the signature last, replacement, bounds, and following the
 * chain as its head moves.
 */
export class Mempool {
  readonly #chain: Chain
  readonly #verifier: SignatureVerifier
  readonly #policy: MempoolPolicy
  readonly #pool = new Pool()
  readonly #listeners: AdmissionListener[] = []
  #verifying = 0
  #sequence = 0
  #floorRate = 0n

  constructor({ chain, verifier, policy }: MempoolDependencies) {
    this.#chain = chain
    this.#verifier = verifier
    this.#policy = policy
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

  /** Least rate that is admitted now. */
  get minFeeRate(): bigint {
    const baseFee = nextBaseFee(this.#chain)
    return baseFee > this.#floorRate ? baseFee : this.#floorRate
  }

  /** Hears of every admission from now on. */
  onAdmission(listener: AdmissionListener): void {
    this.#listeners.push(listener)
  }

  get(txId: TxId): Transaction | undefined {
    return this.#pool.get(txId)?.tx
  }

  /** Waiting transactions, dearest first as a block would take them. */
  *candidates(): Generator<Transaction> {
    const nonceOf = (address: Address): bigint => this.#chain.database.get(ACCOUNTS, address)?.nonce ?? 0n
    for (const { tx } of this.#pool.candidates(nextBaseFee(this.#chain), nonceOf)) yield tx
  }

  /** All waiting transactions in order of arrival. */
  transactions(): readonly Transaction[] {
    return [...this.#pool.entries()].map(({ tx }) => tx)
  }

  /** Transactions of one account, by nonce. */
  ofAccount(address: Address): readonly Transaction[] {
    return (
      this.#pool
        .account(address)
        ?.entries()
        .map(({ tx }) => tx) ?? []
    )
  }

  /** Nonce that the account's next transaction should have, waiting ones counted. */
  nextNonce(address: Address): bigint {
    const nonce = this.#chain.database.get(ACCOUNTS, address)?.nonce ?? 0n
    return nonce + BigInt(this.#pool.account(address)?.executable(nonce).length ?? 0)
  }

  /** Admits a transaction, or says why not and what would be accepted. */
  async submit(tx: Transaction): Promise<Result<Transaction>> {
    const entry = mempoolEntry(tx, this.#chain.ruleBook, nextHeight(this.#chain), this.#sequence++)
    const refusal = checkAdmission(entry, this.#context())
    if (refusal !== null) return fail(refusal)
    const badSignature = await this.#checkSignature(tx)
    if (badSignature !== null) return fail(badSignature)
    // The head, or this very account, may have moved while the signature was checked.
    const late = checkAdmission(entry, this.#context())
    if (late !== null) return fail(late)
    this.#insert(entry)
    return this.#pool.get(tx.txId) === undefined ? fail(this.#fullFault()) : ok(tx)
  }

  /** Takes a transaction out: one that a miner found cannot be mined any more. */
  drop(txId: TxId): void {
    const entry = this.#pool.get(txId)
    if (entry !== undefined) this.#pool.remove(entry)
  }

  #context(): AdmissionContext {
    return { chain: this.#chain, pool: this.#pool, policy: this.#policy, floorRate: this.#floorRate }
  }

  async #checkSignature(tx: Transaction): Promise<Fault | null> {
    const chain = this.#chain
    if (chain.verified.has(tx.wtxId)) return null
    const parts = tx.witness.signatures.length
    if (this.#verifying + parts > this.#policy.verifyingMax) return fault('mempool/busy')
    const first = this.#pool.account(tx.body.sender)?.at(0n)?.tx
    const carried = first === undefined ? undefined : carriedKeys(first.body.sender, first.witness.keys)
    const pending = carried?.ok ? new Map([[tx.body.sender, carried.value]]) : undefined
    const keys = chain.keys.keysFor(tx, pending)
    if (!keys.ok) return keys.fault
    const job = signatureJob(tx, keys.value, chain.network)
    if (!job.ok) return job.fault
    this.#verifying += parts
    try {
      const [good] = await this.#verifier.verify([job.value])
      if (good !== true) return fault('tx/bad-signature')
      chain.verified.add(tx.wtxId)
      return null
    } finally {
      this.#verifying -= parts
    }
  }

  #insert(entry: MempoolEntry): void {
    this.#pool.insert(entry)
    const baseFee = nextBaseFee(this.#chain)
    for (const evicted of evict(this.#pool, this.#policy, baseFee)) {
      const rate = effectiveRate(evicted, baseFee)
      if (rate >= this.#floorRate) this.#floorRate = rate + 1n
    }
    if (this.#pool.get(entry.tx.txId) === undefined) return
    for (const listener of this.#listeners) listener(entry.tx)
  }

  #fullFault(): Fault {
    return fault('mempool/full', { minFeeRate: this.minFeeRate.toString() })
  }

  /** Mined ones leave, unwound ones come back, and what the new head made impossible goes. */
  #follow({ connected, disconnected }: HeadChange): void {
    this.#floorRate = 0n
    const touched = new Set<Address>()
    for (const { id } of connected) {
      for (const tx of this.#transactionsOf(id)) {
        touched.add(tx.body.sender)
        this.drop(tx.txId)
      }
    }
    for (const { id } of disconnected.toReversed()) this.#giveBack(this.#transactionsOf(id))
    this.#dropExpired()
    // Only its own transactions take from an account, unless blocks were unwound.
    const affected = disconnected.length > 0 ? [...this.#pool.accounts()].map(([address]) => address) : touched
    for (const address of affected) this.#recheck(address)
  }

  #transactionsOf(id: BlockId): readonly Transaction[] {
    return this.#chain.database.block(id)?.transactions ?? []
  }

  /** Unwound transactions were valid once and their signatures are known: they skip the fee floor, not the rest. */
  #giveBack(transactions: readonly Transaction[]): void {
    for (const tx of transactions) {
      if (this.#chain.database.location(tx.txId) !== undefined) continue
      if (this.#pool.account(tx.body.sender)?.at(tx.body.nonce) !== undefined) continue
      this.#chain.verified.add(tx.wtxId)
      this.#insert(mempoolEntry(detached(tx), this.#chain.ruleBook, nextHeight(this.#chain), this.#sequence++))
    }
  }

  #dropExpired(): void {
    const height = nextHeight(this.#chain)
    for (const entry of [...this.#pool.entries()]) {
      const { validUntil } = entry.tx.body
      if (validUntil !== 0 && validUntil < height) this.#pool.remove(entry)
    }
  }

  /** Drops used nonces and, from the last on, what the balance no longer covers. */
  #recheck(address: Address): void {
    const account = this.#chain.database.get(ACCOUNTS, address)
    for (const entry of this.#pool.account(address)?.entries() ?? []) {
      if (account === undefined || entry.tx.body.nonce < account.nonce) this.#pool.remove(entry)
    }
    for (let queue = this.#pool.account(address); queue !== undefined; queue = this.#pool.account(address)) {
      const last = queue.last()
      if (last === undefined || queue.needs() <= (account?.balance ?? 0n)) return
      this.#pool.remove(last)
    }
  }
}
