import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { TestChain, wallet } from '../chain.ts'
import { VirtualTime } from '../sim/virtual-clock.ts'
import { units } from '../unsigned.ts'
import { MemoryNetwork } from './memory-network.ts'
import { RelayNode, type RelayNodeOptions } from './relay-node.ts'

/** Relaying nodes over a network in memory, all on one chain, and payments that are valid on it. */
export class RelayRow {
  readonly source: TestChain
  readonly hub: MemoryNetwork

  private constructor(source: TestChain) {
    this.source = source
    this.hub = new MemoryNetwork(new VirtualTime(source.nowMs))
  }

  static async open(): Promise<RelayRow> {
    const source = await TestChain.open()
    await source.mineTo(1)
    return new RelayRow(source)
  }

  /** A payment from the wallet with this number. */
  pay(from: number, options: Parameters<TestChain['tx']>[3] = {}): Promise<Transaction> {
    const payload = { to: wallet(10).address, amount: units(5_000n), create: false }
    return this.source.tx(wallet(from), 'transfer', payload, options)
  }

  /** One payment from each of `count` wallets. */
  pays(count: number): Promise<Transaction[]> {
    return Promise.all(Array.from({ length: count }, (_, i) => this.pay(i + 1)))
  }

  /** A node without connections. */
  node(name: string, options: RelayNodeOptions = {}): Promise<RelayNode> {
    return RelayNode.open(this.hub, name, { like: this.source, ...options })
  }

  /** Nodes in a row, one for each mode. Each dials the next. */
  async line(...modes: readonly ('gossip' | 'announce')[]): Promise<RelayNode[]> {
    const nodes = await Promise.all(modes.map((mode, i) => this.node(`node ${i}`, { mode })))
    for (let i = 1; i < nodes.length; i++) this.hub.connect(nodes[i - 1]?.network as never, nodes[i]?.network as never)
    await this.hub.time.pass(100)
    return nodes
  }

  async pair(mode: 'gossip' | 'announce' = 'gossip'): Promise<[RelayNode, RelayNode]> {
    const [one, other] = await this.line(mode, mode)
    return [one as RelayNode, other as RelayNode]
  }
}
