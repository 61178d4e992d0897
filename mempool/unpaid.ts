import type { Address, TxId } from '../consensus/primitives/ids.ts'
import { LruMap } from '../consensus/primitives/lru.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import type { MempoolPolicy } from './policy.ts'

/** Remembered accounts. A forgotten one has its full allowance again; opening many accounts costs fees. */
const ACCOUNTS_KEPT = 65_536

interface Account {
  readonly left: number
  readonly height: number
}

/**
 * Limits how many transactions of an account are admitted, checked and relayed before some are mined. A waiting
 * transaction may never pay: its nonce never comes, it expires, it is replaced again and again, or better paying ones
 * pass it for ever.
 *
 * So each admission takes one place of its account. A mined nonce gives back only one place, even if it was replaced
 * many times: the replaced transactions paid nothing, and the higher fee of a replacement may go to its own sender, if
 * that is the miner. Other places come back with every block.
 */
export class Unpaid {
  readonly #policy: MempoolPolicy
  readonly #accounts = new LruMap<Address, Account>(ACCOUNTS_KEPT)
  /** Waiting transactions that took a place. */
  readonly #taken = new Set<TxId>()

  constructor(policy: MempoolPolicy) {
    this.#policy = policy
  }

  leftOf(address: Address, height: number): number {
    const { unpaidPerAccount, unpaidPerBlock } = this.#policy
    const known = this.#accounts.get(address)
    if (known === undefined) return unpaidPerAccount
    return Math.min(unpaidPerAccount, known.left + Math.max(0, height - known.height) * unpaidPerBlock)
  }

  /** Counts an admission, replacements included. */
  took({ txId, body }: Transaction, height: number): void {
    this.#taken.add(txId)
    this.#set(body.sender, this.leftOf(body.sender, height) - 1, height)
  }

  /** A block paid for the nonce of a waiting transaction. */
  paid({ txId, body }: Transaction, height: number): void {
    if (this.#taken.delete(txId)) this.#set(body.sender, this.leftOf(body.sender, height) + 1, height)
  }

  /** Forgets transactions that left unmined. Their places come back only with new blocks. */
  forget(waits: (txId: TxId) => boolean): void {
    for (const txId of this.#taken) if (!waits(txId)) this.#taken.delete(txId)
  }

  #set(address: Address, left: number, height: number): void {
    this.#accounts.set(address, { left: Math.min(this.#policy.unpaidPerAccount, left), height })
  }
}
