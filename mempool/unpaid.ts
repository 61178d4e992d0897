import type { Address, TxId } from '../consensus/primitives/ids.ts'
import { LruMap } from '../consensus/primitives/lru.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import type { MempoolPolicy } from './policy.ts'

/** Accounts of which it is remembered; one that is forgotten begins anew, and each was paid for when it was made. */
const ACCOUNTS_KEPT = 65_536

interface Account {
  readonly left: number
  readonly height: number
}

/**
 * How many transactions an account may have taken in here, checked and passed on, before some are mined. One that waits may
 * never pay: its nonce never comes, its time runs out, it is replaced again and again, dearer ones pass it for ever. So each
 * takes one place of its account's, and a nonce that is mined gives back one: what was replaced at it paid nothing, and what a
 * replacement pays more may go to its own sender, where that is the miner. The others come back with the blocks.
 */
export class Unpaid {
  readonly #policy: MempoolPolicy
  readonly #accounts = new LruMap<Address, Account>(ACCOUNTS_KEPT)
  /** Waiting transactions that have taken a place. */
  readonly #taken = new Set<TxId>()

  constructor(policy: MempoolPolicy) {
    this.#policy = policy
  }

  /** Places that an account has left at a height. */
  leftOf(address: Address, height: number): number {
    const { unpaidPerAccount, unpaidPerBlock } = this.#policy
    const known = this.#accounts.get(address)
    if (known === undefined) return unpaidPerAccount
    return Math.min(unpaidPerAccount, known.left + Math.max(0, height - known.height) * unpaidPerBlock)
  }

  /** A transaction was taken in, in the place of another or of none. */
  took({ txId, body }: Transaction, height: number): void {
    this.#taken.add(txId)
    this.#set(body.sender, this.leftOf(body.sender, height) - 1, height)
  }

  /** A block pays for the nonce that a waiting transaction has. */
  paid({ txId, body }: Transaction, height: number): void {
    if (this.#taken.delete(txId)) this.#set(body.sender, this.leftOf(body.sender, height) + 1, height)
  }

  /** Forgets what does not wait any more: its place comes back with the blocks alone. */
  forget(waits: (txId: TxId) => boolean): void {
    for (const txId of this.#taken) if (!waits(txId)) this.#taken.delete(txId)
  }

  #set(address: Address, left: number, height: number): void {
    this.#accounts.set(address, { left: Math.min(this.#policy.unpaidPerAccount, left), height })
  }
}
