import type { Address, TxId, WtxId } from '../consensus/primitives/ids.ts'
import { AccountQueue, effectiveRate, type MempoolEntry } from './account-queue.ts'
import { Heap } from './heap.ts'

/** The mempool's indexes, by id and by account and nonce, with count and bytes. It makes no decisions. */
export class Pool {
  readonly #byId = new Map<TxId, MempoolEntry>()
  readonly #byWitness = new Map<WtxId, MempoolEntry>()
  readonly #accounts = new Map<Address, AccountQueue>()
  readonly #listeners: ((address: Address) => void)[] = []
  readonly #removalListeners: ((entry: MempoolEntry) => void)[] = []
  #bytes = 0

  /** Calls the listener with every account that gains or loses an entry. */
  onChange(listener: (address: Address) => void): void {
    this.#listeners.push(listener)
  }

  /** Calls the listener with every removed entry. */
  onRemoval(listener: (entry: MempoolEntry) => void): void {
    this.#removalListeners.push(listener)
  }

  get count(): number {
    return this.#byId.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get(txId: TxId): MempoolEntry | undefined {
    return this.#byId.get(txId)
  }

  byWitness(wtxId: WtxId): MempoolEntry | undefined {
    return this.#byWitness.get(wtxId)
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

  /** Adds an entry. An entry with the same account and nonce is removed and returned. */
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
    this.#tell(sender)
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
    this.#tell(sender)
    for (const listener of this.#removalListeners) listener(entry)
  }

  #tell(address: Address): void {
    for (const listener of this.#listeners) listener(address)
  }

  /**
   * Entries that a block can take, highest rate first, each account's in nonce order. Entries below the base fee are
   * left out. Those of `preferred` accounts come before all others.
   */
  *candidates(
    baseFee: bigint,
    nonceOf: (address: Address) => bigint,
    preferred: ReadonlySet<Address> = new Set(),
  ): Generator<MempoolEntry> {
    const addresses = [...this.#accounts.keys()]
    const own = addresses.filter((address) => preferred.has(address))
    const others = addresses.filter((address) => !preferred.has(address))
    yield* this.#dearest(own, baseFee, nonceOf)
    yield* this.#dearest(others, baseFee, nonceOf)
  }

  *#dearest(
    addresses: readonly Address[],
    baseFee: bigint,
    nonceOf: (address: Address) => bigint,
  ): Generator<MempoolEntry> {
    const heap = new RateHeap(baseFee)
    const runs = new Map<Address, Iterator<MempoolEntry>>()
    const pushNext = (address: Address): void => {
      const next = runs.get(address)?.next()
      if (next !== undefined && !next.done && next.value.tx.body.maxFeeRate >= baseFee) heap.push(next.value)
    }
    for (const address of addresses) {
      const run = this.#accounts.get(address)?.executable(nonceOf(address)) ?? []
      runs.set(address, run.values())
      pushNext(address)
    }
    for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
      yield entry
      pushNext(entry.tx.body.sender)
    }
  }
}

interface Rated {
  readonly rate: bigint
  readonly entry: MempoolEntry
}

/** A heap by fee rate. On a tie the earlier arrival comes first. */
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
