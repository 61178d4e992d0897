import type { Transaction } from '../consensus/tx/transaction.ts'
import { rateOf } from '../consensus/tx/weight.ts'

/** A transaction in the mempool. */
export interface MempoolEntry {
  readonly tx: Transaction
  readonly weight: number
  readonly bytes: number
  /** Most native coins that can leave the sender: what the payload spends, and the fee at its highest rate. */
  readonly needs: bigint
  /** Order of arrival; lower came earlier. */
  readonly sequence: number
}

/** Rate that the entry pays at a base fee that it can pay. */
export function effectiveRate({ tx }: Pick<MempoolEntry, 'tx'>, baseFee: bigint): bigint {
  return rateOf(tx.body, baseFee)
}

/** What decides whether an account's transactions can be mined: its next nonce, and the base fee. */
export interface Turn {
  readonly nonce: bigint
  readonly baseFee: bigint
}

/** Transactions of one account, by nonce. */
export class AccountQueue {
  readonly #entries: MempoolEntry[] = []
  #needs = 0n
  /** Ranks of the entries in nonce order, as far as computed. A rank depends on no later entry. */
  #ranks: bigint[] = []
  #turn: Turn = { nonce: 0n, baseFee: 0n }

  get size(): number {
    return this.#entries.length
  }

  at(nonce: bigint): MempoolEntry | undefined {
    const entry = this.#entries[this.#indexOf(nonce)]
    return entry?.tx.body.nonce === nonce ? entry : undefined
  }

  put(entry: MempoolEntry): void {
    const { nonce } = entry.tx.body
    this.remove(nonce)
    const index = this.#indexOf(nonce)
    this.#entries.splice(index, 0, entry)
    this.#needs += entry.needs
    this.#forgetRanks(index)
  }

  remove(nonce: bigint): void {
    const entry = this.at(nonce)
    if (entry === undefined) return
    const index = this.#indexOf(nonce)
    this.#entries.splice(index, 1)
    this.#needs -= entry.needs
    this.#forgetRanks(index)
  }

  entries(): readonly MempoolEntry[] {
    return [...this.#entries]
  }

  executable(nonce: bigint): readonly MempoolEntry[] {
    const first = this.#indexOf(nonce)
    return this.#entries.slice(first, first + this.executableCount(nonce))
  }

  executableCount(nonce: bigint): number {
    const first = this.#indexOf(nonce)
    let [least, beyond] = [0, this.#entries.length - first + 1]
    // Binary search: up to the first gap, nonces rise by exactly one per place, and after it they stay ahead.
    while (beyond - least > 1) {
      const middle = (least + beyond) >> 1
      const last = this.#entries[first + middle - 1] as MempoolEntry
      if (last.tx.body.nonce === nonce + BigInt(middle - 1)) least = middle
      else beyond = middle
    }
    return least
  }

  /** What all entries together take from the account, except that of nonce `except`. */
  needs(except?: bigint): bigint {
    const left = except === undefined ? undefined : this.at(except)
    return this.#needs - (left?.needs ?? 0n)
  }

  last(): MempoolEntry | undefined {
    return this.#entries.at(-1)
  }

  /**
   * The lowest rank of the account. A block that takes the last entry must take all before it, so its rank is the least
   * rate among them. 0 if no block can take it: a nonce is missing, or a maximum rate is below the base fee.
   */
  rankOfLast(turn: Turn): bigint {
    return this.#ranksAt(turn).at(-1) ?? 0n
  }

  /** The nonce must be free. */
  rankOf({ tx }: Pick<MempoolEntry, 'tx'>, turn: Turn): bigint {
    return rankBehind(this.#entries, this.#ranksAt(turn), { tx, turn, index: this.#indexOf(tx.body.nonce) })
  }

  unminable(turn: Turn): readonly MempoolEntry[] {
    const ranks = this.#ranksAt(turn)
    return this.#entries.filter((_, i) => ranks[i] === 0n)
  }

  #ranksAt(turn: Turn): readonly bigint[] {
    if (turn.nonce !== this.#turn.nonce || turn.baseFee !== this.#turn.baseFee) this.#ranks = []
    this.#turn = turn
    for (let index = this.#ranks.length; index < this.#entries.length; index++) {
      const { tx } = this.#entries[index] as MempoolEntry
      this.#ranks.push(rankBehind(this.#entries, this.#ranks, { tx, turn, index }))
    }
    return this.#ranks
  }

  #forgetRanks(from: number): void {
    if (this.#ranks.length > from) this.#ranks.length = from
  }

  #indexOf(nonce: bigint): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle] as MempoolEntry).tx.body.nonce < nonce) low = middle + 1
      else high = middle
    }
    return low
  }
}

function rankBehind(
  entries: readonly MempoolEntry[],
  ranks: readonly bigint[],
  { tx, turn, index }: Pick<MempoolEntry, 'tx'> & { readonly turn: Turn; readonly index: number },
): bigint {
  const { nonce, maxFeeRate } = tx.body
  if (maxFeeRate < turn.baseFee) return 0n
  const rate = effectiveRate({ tx }, turn.baseFee)
  if (nonce === turn.nonce) return rate
  if (entries[index - 1]?.tx.body.nonce !== nonce - 1n) return 0n
  const before = ranks[index - 1] ?? 0n
  return rate < before ? rate : before
}
