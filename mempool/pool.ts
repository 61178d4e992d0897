import type { Address, TxId, WtxId } from '../consensus/primitives/ids.ts'
import { AccountQueue, type MempoolEntry } from './account-queue.ts'

/** The mempool's indexes. It makes no decisions. */
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

  /** Returns the entry with the same account and nonce, which it removes. */
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
}
