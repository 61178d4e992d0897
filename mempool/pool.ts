import type { Address, TxId, WtxId } from '../consensus/primitives/ids.ts'
import type { MempoolEntry } from './entry.ts'
import { RateHeap } from './rate-heap.ts'

/** Transactions of one account, by nonce. */
export class AccountQueue {
  readonly #byNonce = new Map<bigint, MempoolEntry>()

  get size(): number {
    return this.#byNonce.size
  }

  at(nonce: bigint): MempoolEntry | undefined {
    return this.#byNonce.get(nonce)
  }

  put(entry: MempoolEntry): void {
    this.#byNonce.set(entry.tx.body.nonce, entry)
  }

  remove(nonce: bigint): void {
    this.#byNonce.delete(nonce)
  }

  /** All entries in nonce order. */
  entries(): readonly MempoolEntry[] {
    return [...this.#byNonce.values()].sort((a, b) => (a.tx.body.nonce < b.tx.body.nonce ? -1 : 1))
  }

  /** Entries that follow each other without a gap from `nonce` on. */
  executable(nonce: bigint): readonly MempoolEntry[] {
    const run: MempoolEntry[] = []
    for (let next = nonce, entry = this.at(next); entry !== undefined; entry = this.at(++next)) run.push(entry)
    return run
  }

  /** What all entries together take from the account, one nonce left out. */
  needs(except?: bigint): bigint {
    let sum = 0n
    for (const [nonce, entry] of this.#byNonce) if (nonce !== except) sum += entry.needs
    return sum
  }

  /** The entry with the highest nonce: the one that can go without stranding another. */
  last(): MempoolEntry | undefined {
    let last: MempoolEntry | undefined
    for (const entry of this.#byNonce.values()) {
      if (last === undefined || entry.tx.body.nonce > last.tx.body.nonce) last = entry
    }
    return last
  }
}

/** The mempool's indexes: by id, by account and nonce; count and bytes. Holds no policy. */
export class Pool {
  readonly #byId = new Map<TxId, MempoolEntry>()
  readonly #byWitness = new Map<WtxId, MempoolEntry>()
  readonly #accounts = new Map<Address, AccountQueue>()
  #bytes = 0

  get count(): number {
    return this.#byId.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get(txId: TxId): MempoolEntry | undefined {
    return this.#byId.get(txId)
  }

  hasWitness(wtxId: WtxId): boolean {
    return this.#byWitness.has(wtxId)
  }

  account(address: Address): AccountQueue | undefined {
    return this.#accounts.get(address)
  }

  accounts(): IterableIterator<[Address, AccountQueue]> {
    return this.#accounts.entries()
  }

  entries(): IterableIterator<MempoolEntry> {
    return this.#byId.values()
  }

  /** Adds an entry; whatever had its account and nonce is taken out and returned. */
  insert(entry: MempoolEntry): MempoolEntry | undefined {
    const { sender, nonce } = entry.tx.body
    const replaced = this.#accounts.get(sender)?.at(nonce)
    if (replaced !== undefined) this.remove(replaced)
    let queue = this.#accounts.get(sender)
    if (queue === undefined) {
      queue = new AccountQueue()
      this.#accounts.set(sender, queue)
    }
    queue.put(entry)
    this.#byId.set(entry.tx.txId, entry)
    this.#byWitness.set(entry.tx.wtxId, entry)
    this.#bytes += entry.bytes
    return replaced
  }

  remove(entry: MempoolEntry): void {
    const { sender, nonce } = entry.tx.body
    if (!this.#byId.delete(entry.tx.txId)) return
    this.#byWitness.delete(entry.tx.wtxId)
    this.#bytes -= entry.bytes
    const queue = this.#accounts.get(sender)
    queue?.remove(nonce)
    if (queue?.size === 0) this.#accounts.delete(sender)
  }

  /** Executable entries, dearest first, each account's in nonce order; those below the base fee are left out. */
  *candidates(baseFee: bigint, nonceOf: (address: Address) => bigint): Generator<MempoolEntry> {
    const heap = new RateHeap(baseFee)
    const runs = new Map<Address, Iterator<MempoolEntry>>()
    const pushNext = (address: Address): void => {
      const next = runs.get(address)?.next()
      if (next !== undefined && !next.done && next.value.tx.body.maxFeeRate >= baseFee) heap.push(next.value)
    }
    for (const [address, queue] of this.#accounts) {
      runs.set(address, queue.executable(nonceOf(address)).values())
      pushNext(address)
    }
    for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
      yield entry
      pushNext(entry.tx.body.sender)
    }
  }
}
