import type { TxId } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { Dice } from './dice.ts'
import type { SimNode } from './sim-node.ts'
import type { VirtualTime } from './virtual-clock.ts'
import { WALLET_ADDRESSES, walletTransaction } from './wallets.ts'

const VARIANTS = 2
/** Most transactions that a wallet sends at once. */
const RUN_MAX = 3

/** Wallets that send transactions at random times. Each keeps to one node for a while. */
export class Traffic {
  /** Transactions that some node admitted. */
  readonly sent = new Map<TxId, Transaction>()
  readonly #time: VirtualTime
  readonly #dice: Dice
  readonly #nodes: readonly SimNode[]
  readonly #homes: SimNode[]
  #running = true

  constructor(parts: { time: VirtualTime; dice: Dice; nodes: readonly SimNode[]; perSecond: number }) {
    this.#time = parts.time
    this.#dice = parts.dice
    this.#nodes = parts.nodes
    this.#homes = WALLET_ADDRESSES.map(() => parts.dice.pick(parts.nodes))
    this.#goOn(2_000 / parts.perSecond)
  }

  stop(): void {
    this.#running = false
  }

  #goOn(meanMs: number): void {
    this.#time.after(this.#dice.exponential(meanMs), () => {
      if (!this.#running) return
      const wallet = this.#dice.below(WALLET_ADDRESSES.length)
      // A wallet that changes its node may use a nonce twice, because the new node may not know its last transactions.
      if (this.#dice.chance(0.1)) this.#homes[wallet] = this.#dice.pick(this.#nodes)
      void this.#send(wallet, 1 + this.#dice.below(RUN_MAX), this.#dice.below(VARIANTS))
      this.#goOn(meanMs)
    })
  }

  async #send(wallet: number, count: number, variant: number): Promise<void> {
    const home = this.#homes[wallet] as SimNode
    for (let i = 0; i < count && home.up; i++) {
      const { mempool, chain } = home.life
      const nonce = mempool.nextNonce(WALLET_ADDRESSES[wallet]!)
      const tx = await walletTransaction(chain.network, { wallet, nonce, variant })
      const admitted = await mempool.submit(tx)
      if (!admitted.ok) return
      this.sent.set(tx.txId, tx)
    }
  }
}
