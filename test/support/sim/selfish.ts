import type { Block } from '../../../consensus/block/block.ts'
import { Chain } from '../../../consensus/chain/chain.ts'
import { ChainDatabase } from '../../../consensus/chain/database.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { Mempool } from '../../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../mempool/policy.ts'
import { Miner } from '../../../miner/miner.ts'
import { cheapPow, cheapRuleBook, SHARED_VERIFIER } from './cheap-network.ts'
import type { Dice } from './dice.ts'
import { OrderedStore } from './ordered-store.ts'
import type { SimNode } from './sim-node.ts'
import { NodeTime, type VirtualTime } from './virtual-clock.ts'
import { VirtualDisk } from './virtual-disk.ts'
import { VirtualMine } from './virtual-mine.ts'

/** Most blocks to withhold: a longer lead is not worth the risk. */
const WITHHELD_MAX = 12

export interface SelfishParts {
  /** The node through which it talks to the network. That node does not mine. */
  readonly node: SimNode
  readonly time: VirtualTime
  readonly dice: Dice
  readonly hashesPerSecond: number
  readonly rewardTo: Address
}

/**
 * A selfish miner (Eyal and Sirer). It withholds its blocks while it leads, and publishes them when the others come
 * near. It mines on its own chain and publishes through an ordinary node.
 */
export class SelfishMiner {
  readonly #parts: SelfishParts
  readonly #chain: Chain
  readonly #miner: Miner
  readonly #time: NodeTime
  #withheld: Block[] = []
  #working: Promise<void> = Promise.resolve()
  /** How many blocks it found. */
  mined = 0

  private constructor(parts: SelfishParts, chain: Chain, time: NodeTime) {
    this.#parts = parts
    this.#chain = chain
    this.#time = time
    const mempool = new Mempool({ chain, verifier: SHARED_VERIFIER, policy: DEFAULT_MEMPOOL_POLICY })
    this.#miner = new Miner(
      {
        ...{ chain, mempool, clock: time, timers: time, pacer: UNPACED, extra: parts.dice.bytes(32) },
        searcher: new VirtualMine(time, parts.hashesPerSecond, parts.dice.fork()),
        onMined: (block) => this.#found(block),
        onRefused: () => {},
        onFatal: (error) => {
          throw error
        },
      },
      parts.rewardTo,
    )
    parts.node.onStart(() => this.#listen())
    if (parts.node.up) this.#listen()
  }

  /** Opens a chain of its own for the miner and begins to mine. */
  static async open(parts: SelfishParts): Promise<SelfishMiner> {
    const ruleBook = cheapRuleBook()
    const time = new NodeTime(parts.time, parts.node.traits.skew, parts.time.nowMs)
    const disk = new VirtualDisk(new OrderedStore(), time, parts.dice.fork())
    const database = await ChainDatabase.open(disk, ruleBook, ruleBook.genesis, 'selfish')
    if ('code' in database) throw new Error(database.code)
    const chain = new Chain({
      ...{ ruleBook, database, clock: time, verifier: SHARED_VERIFIER, powHasher: cheapPow, pacer: UNPACED },
      network: { chainId: 1, genesis: ruleBook.genesis.block.id },
      reorganisationDepthMax: 1_200,
    })
    const selfish = new SelfishMiner(parts, chain, time)
    selfish.#miner.start()
    return selfish
  }

  /** Stops mining and publishes the withheld blocks. */
  stop(): void {
    this.#time.end()
    void this.#miner.stop()
    this.#show()
  }

  #listen(): void {
    const { chain } = this.#parts.node.life
    chain.onHeadChange(({ connected }) => {
      for (const { id } of connected) {
        const block = chain.database.block(id)
        if (block !== undefined) this.#later(() => this.#hear(block))
      }
    })
  }

  #found(block: Block): void {
    this.mined++
    this.#withheld.push(block)
    if (this.#withheld.length >= WITHHELD_MAX) this.#show()
  }

  async #hear(block: Block): Promise<void> {
    await this.#chain.import(block)
    if (this.#chain.head.id === block.id) this.#withheld = []
    const lead = this.#chain.head.header.height - block.header.height
    if (this.#withheld.length > 0 && lead <= 1) this.#show()
  }

  #show(): void {
    const shown = this.#withheld.splice(0)
    this.#later(async () => {
      for (const block of shown) {
        if (!this.#parts.node.up) return
        const { chain, peers } = this.#parts.node.life
        const outcome = await chain.import(block)
        if (outcome.ok) peers.blocks.announce(block)
      }
    })
  }

  #later(work: () => Promise<void>): void {
    this.#working = this.#working.then(work)
  }
}
