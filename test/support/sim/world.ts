import type { TxId } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { useNativeSha256 } from '../../../src/crypto/native-backend.ts'
import type { Network } from '../../../src/p2p/network.ts'
import { cheapRuleBook } from './cheap-network.ts'
import { Dice } from './dice.ts'
import type { Endpoint } from './endpoint.ts'
import { EventLog } from './event-log.ts'
import { Liar } from './liar.ts'
import type { Incident, NodePlan, Plan } from './plan.ts'
import { Poisoner } from './poisoner.ts'
import { SelfishMiner } from './selfish.ts'
import { SimNode } from './sim-node.ts'
import { Traffic } from './traffic.ts'
import { VirtualTime } from './virtual-clock.ts'
import { VirtualNetwork } from './virtual-network.ts'
import { WALLET_ADDRESSES } from './wallets.ts'

useNativeSha256()

const CALM = { requestLoss: 0, gossipLoss: 0 }
const STARTING_MS = 500
const LOOK_MS = 5_000
/** Wallets stop so long before the last blocks, and miners so long before the verdict. */
const DRAIN_MS = 60_000
const QUIET_MS = 90_000
const LAST_BLOCKS = 3
/** A world is given up after so many times its planned duration. */
const PATIENCE = 30
const SPACING_MS = 3_000

/** Nodes, links, wallets and incidents of a plan, on one virtual time. */
export class World {
  readonly plan: Plan
  readonly time: VirtualTime
  readonly log: EventLog
  readonly network: VirtualNetwork
  readonly nodes: readonly SimNode[]
  readonly traffic: Traffic
  /** Failures that no honest node may have. */
  readonly complaints: string[] = []
  /** Transactions of blocks that left an honest node's best chain. */
  readonly abandoned = new Map<TxId, Transaction>()
  /** The deepest reorganisation of an honest node, in blocks. */
  deepest = 0
  readonly #dice: Dice
  readonly #selfish: SelfishMiner[] = []

  /** `echo` gets every event. */
  constructor(plan: Plan, echo?: (line: string) => void) {
    this.plan = plan
    this.#dice = new Dice(plan.seed + 0x5eed)
    const startMs = cheapRuleBook().genesis.block.header.timeMs + 60_000
    this.time = new VirtualTime(startMs)
    this.log = new EventLog(echo)
    this.network = new VirtualNetwork({
      time: this.time,
      dice: this.#dice.fork(),
      log: this.log,
      weather: plan.weather,
    })
    this.nodes = plan.nodes.map((node, i) => this.#nodeOf(node, i))
    this.traffic = new Traffic({
      ...{ time: this.time, dice: this.#dice.fork(), nodes: this.honest },
      perSecond: plan.transactionsPerSecond,
    })
  }

  /** Nodes that tell the truth. */
  get honest(): readonly SimNode[] {
    return this.nodes.filter((_, i) => this.plan.nodes[i]?.lie === undefined)
  }

  /** Runs the whole simulation: incidents, the time until the height is reached, and the rest at the end. */
  async run(): Promise<void> {
    const started = Promise.all([...this.nodes.map((node) => node.start()), this.#openSelfish()])
    // Starting needs virtual time, because the virtual disks are slow.
    await this.time.pass(STARTING_MS)
    await started
    for (const incident of this.plan.incidents) this.time.after(incident.atMs, () => this.#befall(incident))
    const over = Math.max(0, ...this.plan.incidents.map(({ atMs, forMs }) => atMs + forMs))
    await this.time.pass(over + 1)
    await this.#mineUntil(this.plan.blocks)
    await this.#comeToRest()
  }

  /** Height of the best chain that an honest node has. */
  height(): number {
    return Math.max(...this.honest.filter(({ up }) => up).map(({ life }) => life.chain.head.header.height))
  }

  async #comeToRest(): Promise<void> {
    for (const selfish of this.#selfish) selfish.stop()
    this.network.weather = { ...this.plan.weather, ...CALM }
    this.traffic.stop()
    await this.time.pass(DRAIN_MS)
    // Two branches of equal work would stay for ever, so only one miner goes on at the end.
    const miners = this.honest.toSorted((a, b) => b.traits.hashesPerSecond - a.traits.hashesPerSecond)
    for (const { life } of miners.slice(1)) void life.miner.stop()
    await this.time.pass(SPACING_MS)
    await this.#mineUntil(this.height() + LAST_BLOCKS)
    void miners[0]?.life.miner.stop()
    await this.time.pass(QUIET_MS)
  }

  async #mineUntil(height: number): Promise<void> {
    const missing = height - this.height()
    const endMs = this.time.nowMs + missing * SPACING_MS * PATIENCE
    while (this.height() < height) {
      if (this.time.nowMs > endMs) throw new Error(`height ${this.height()} in place of ${height}`)
      await this.time.pass(LOOK_MS)
    }
  }

  #nodeOf({ name, skew, hashesPerSecond, outboundWanted, lie, selfish }: NodePlan, index: number): SimNode {
    const node = new SimNode(
      {
        ...{ name, skew, outboundWanted, rewardTo: WALLET_ADDRESSES[index % WALLET_ADDRESSES.length]! },
        hashesPerSecond: selfish === undefined ? hashesPerSecond : 0,
        ...(lie === undefined ? {} : { tamper: (endpoint, dice) => this.#tongueOf(lie, endpoint, dice) }),
      },
      { network: this.network, dice: this.#dice.fork(), complain: (what) => this.#complain(name, what) },
    )
    if (lie === undefined) node.onStart(() => this.#watch(node))
    return node
  }

  #tongueOf(lie: NonNullable<NodePlan['lie']>, endpoint: Endpoint, dice: Dice): Network {
    return lie === 'poison' ? new Poisoner(endpoint, dice, this.time) : new Liar(endpoint, lie, dice, this.time)
  }

  #complain(name: string, what: string): void {
    if (this.plan.nodes.find((node) => node.name === name)?.lie === undefined) this.complaints.push(what)
  }

  #watch({ life: { chain } }: SimNode): void {
    chain.onHeadChange(({ disconnected }) => {
      this.deepest = Math.max(this.deepest, disconnected.length)
      for (const { id } of disconnected) {
        for (const tx of chain.database.transactions(id) ?? []) this.abandoned.set(tx.txId, tx)
      }
    })
  }

  async #openSelfish(): Promise<void> {
    for (const [i, { selfish, hashesPerSecond }] of this.plan.nodes.entries()) {
      const node = this.nodes[i] as SimNode
      if (selfish === undefined) continue
      const parts = { node, time: this.time, dice: this.#dice.fork(), hashesPerSecond, rewardTo: node.traits.rewardTo }
      this.#selfish.push(await SelfishMiner.open(parts))
    }
  }

  #befall(incident: Incident): void {
    if (incident.kind === 'split') {
      this.network.split((name) => incident.groupOf[name] ?? 0)
      this.time.after(incident.forMs, () => this.network.split(undefined))
      return
    }
    const node = this.nodes.find(({ name }) => name === incident.node)
    if (node?.up !== true) return
    const waiting = node.crash()
    this.time.after(incident.forMs, () => void this.#restart(node, incident.mempoolKept ? waiting : []))
  }

  async #restart(node: SimNode, waiting: readonly Transaction[]): Promise<void> {
    try {
      await node.start(waiting)
    } catch (error) {
      this.#complain(node.name, `${node.name} does not start again: ${String(error)}`)
    }
  }
}
