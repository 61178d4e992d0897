import { searchNonce, workOfTarget } from '../../../consensus/block/pow.ts'
import type { Timers } from '../../../consensus/chain/ports.ts'
import { readUintBE } from '../../../consensus/primitives/bytes.ts'
import type { MiningJob, NonceSearcher } from '../../../miner/miner.ts'
import { cheapPow } from './cheap-network.ts'
import type { Dice } from './dice.ts'

/**
 * Mining as a Poisson process. The duration of a search is drawn at random; at its end a real nonce is searched at
 * once. A search has no memory, so a new job can start a new one without loss.
 */
export class VirtualMine implements NonceSearcher {
  readonly #timers: Timers
  readonly #dice: Dice
  readonly #hashesPerSecond: number
  #listener: (nonce: bigint, job: MiningJob) => void = () => {}
  #cancel: () => void = () => {}

  constructor(timers: Timers, hashesPerSecond: number, dice: Dice) {
    this.#timers = timers
    this.#hashesPerSecond = hashesPerSecond
    this.#dice = dice
  }

  assign(job: MiningJob | null): void {
    this.#cancel()
    if (job === null || this.#hashesPerSecond === 0) return
    const hashes = this.#dice.exponential(Number(workOfTarget(readUintBE(job.target))))
    this.#cancel = this.#timers.after((hashes * 1_000) / this.#hashesPerSecond, () => this.#find(job))
  }

  onFound(listener: (nonce: bigint, job: MiningJob) => void): void {
    this.#listener = listener
  }

  #find(job: MiningJob): void {
    const search = { ...job, start: BigInt(this.#dice.below(2 ** 32)), stride: 1n }
    const nonce = searchNonce(search, cheapPow, { stopped: () => false, onHash: () => {} })
    if (nonce !== undefined) this.#listener(nonce, job)
  }
}
