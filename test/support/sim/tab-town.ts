import { join } from 'node:path'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { sealHeader } from '../../../consensus/block/header.ts'
import { powInput, searchNonce } from '../../../consensus/block/pow.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import { uintBE } from '../../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { buildTemplate } from '../../../miner/template.ts'
import { useNativeSha256 } from '../../../src/crypto/native-backend.ts'
import { type SellerKey, walletKey } from '../../../src/crypto/wallet-key.ts'
import { removeFolder, temporaryFolder } from '../processes.ts'
import { agentId, SAMPLE, units } from '../unsigned.ts'
import { cheapPow } from './cheap-network.ts'
import { Dice } from './dice.ts'
import { EventLog } from './event-log.ts'
import { SimNode } from './sim-node.ts'
import { askRefund, callOn, openSimTab, type SimTab, signedAt, tabAt } from './tab-payer.ts'
import { tabSimRuleBook } from './tab-rules.ts'
import { StoreWatch, TabStall } from './tab-stall.ts'
import { VirtualTime } from './virtual-clock.ts'
import { VirtualNetwork } from './virtual-network.ts'

useNativeSha256()

const SPACING_MS = 3_000
const NAMES = ['seller-a', 'seller-b', 'far', 'near'] as const
/** Their signatures differ from run to run, but no id depends on a signature. */
const WALLETS: readonly SellerKey[] = Array.from({ length: 10 }, (_, i) => walletKey(devSeed(i + 1)))
const PAYERS = WALLETS.slice(2, 6)
const FLOODERS = WALLETS.slice(6, 9)
/** The first block with tabs: from here on the coin has a price. */
const FIRST = 45
const WEATHER = { latencyMs: [5, 60], jitterMs: 10, bytesPerMs: 5_000, requestLoss: 0, gossipLoss: 0 } as const
/** Longest time until nodes that a split parted agree again. */
const HEAL_MS = 120_000
const SKEW = { offsetMs: 0, driftPpm: 0 }
/** Chance that a payer who closes floods the blocks of the close delay. */
const FLOODS = 0.7
const DEPTH_MAX = 40
/** Registrations that two flooders keep waiting each, and transfers of the third: whatever else a block takes, they fill it up. */
const FLOOD_LARGE = 3
const FLOOD_SMALL = 9

/** How long a town lives. */
export interface TownSize {
  /** Blocks in which tabs are opened. */
  readonly busyBlocks: number
  readonly tabs: number
  /** Chance of a split in each block. */
  readonly splits: number
  /** How payers mean to end their tabs. */
  readonly ends: readonly SimTab['end'][]
  /** Tips of the floods with which payers who close fill the blocks of the close delay. */
  readonly floodTips: readonly bigint[]
}

/** A split of the network while it lasts. `losing` nodes will find fewer blocks. */
interface Split {
  readonly losing: ReadonlySet<SimNode>
  /** Blocks that the losing side still finds. */
  left: number
}

/**
 * Two sellers with the real tab rail and claimer, payers and miners, each on a whole node of one simulated network. The seed decides who
 * calls when, who finds which block, which splits part the nodes for how long, and who floods the blocks.
 */
export class TabTown {
  readonly seed: number
  readonly time: VirtualTime
  readonly network: VirtualNetwork
  readonly nodes: readonly SimNode[]
  readonly stalls: TabStall[] = []
  readonly tabs: SimTab[] = []
  readonly complaints: string[] = []
  /** Nodes that could hear of a block when it was found. */
  readonly heardBy = new Map<BlockId, ReadonlySet<SimNode>>()
  readonly counts = { calls: 0, splits: 0, floodedBlocks: 0, doubleSpends: 0 }
  readonly #size: TownSize
  readonly #dice: Dice
  readonly #watch = new StoreWatch()
  readonly #folder = temporaryFolder()
  #split: Split | null = null
  #flood: { readonly tip: bigint; left: number } | null = null
  #agents = 0

  constructor(seed: number, size: TownSize) {
    this.seed = seed
    this.#size = size
    this.#dice = new Dice(seed)
    const startMs = tabSimRuleBook().genesis.block.header.timeMs + 60_000
    this.time = new VirtualTime(startMs, () => this.#watch.settled())
    const parts = { time: this.time, dice: this.#dice.fork(), log: new EventLog(), weather: WEATHER }
    this.network = new VirtualNetwork(parts)
    this.nodes = NAMES.map((name, i) => this.#nodeOf(name, i))
  }

  /** Runs until every tab has ended, and all nodes have had time to agree. */
  async run(): Promise<void> {
    const started = Promise.all(this.nodes.map((node) => node.start()))
    await this.time.pass(5_000)
    await started
    await this.#publish()
    for (let i = 0; i < this.#size.busyBlocks; i++) await this.#live(true)
    while (this.#openTabs().length > 0 || this.#split !== null) await this.#live(false)
    // The last ends are not final yet: a branch of equal work could still win.
    for (let i = 0; i < 3; i++) await this.#mineAt(this.nodes[0] as SimNode)
    await this.time.pass(HEAL_MS)
  }

  async close(): Promise<void> {
    const closed = Promise.all(this.stalls.map((stall) => stall.close()))
    await this.time.pass(60_000)
    await closed
    removeFolder(this.#folder)
  }

  #nodeOf(name: string, index: number): SimNode {
    const rewardTo = (WALLETS[9 - (index % 2)] as SellerKey).address
    return new SimNode(
      { name, skew: SKEW, hashesPerSecond: 0, outboundWanted: 3, rewardTo, ruleBook: tabSimRuleBook() },
      { network: this.network, dice: this.#dice.fork(), complain: (what) => this.complaints.push(what) },
    )
  }

  async #publish(): Promise<void> {
    for (const [i, name] of ['shop-a', 'shop-b'].entries()) {
      const [node, owner] = [this.nodes[i] as SimNode, WALLETS[i] as SellerKey]
      const folder = join(this.#folder, name)
      const complain = (what: string): void => void this.complaints.push(what)
      const stall = await TabStall.open({ node, owner, name, folder, watch: this.#watch, complain })
      this.stalls.push(stall)
      for (const { kind, payload } of stall.publication)
        await node.life.mempool.submit(await signedAt(node, owner, kind, payload as never))
    }
    while (this.#height < FIRST) await this.#mineAt(this.nodes[this.#height % 2] as SimNode)
  }

  get #height(): number {
    return Math.max(...this.nodes.map(({ life }) => life.chain.head.header.height))
  }

  /** Tabs that may still end: those on the chain of a node, and those whose opening waits. */
  #openTabs(): readonly SimTab[] {
    return this.tabs.filter((tab) =>
      this.nodes.some((node) => tabAt(node, tab) !== undefined || node.life.mempool.get(tab.tabId) !== undefined),
    )
  }

  /** One block on each side, and what happens meanwhile. */
  async #live(isBusy: boolean): Promise<void> {
    const dice = this.#dice
    if (this.#split === null && dice.chance(this.#size.splits)) this.#part()
    const mayOpen = isBusy && this.tabs.length < this.#size.tabs
    // Thieves open tabs while the network is split.
    if (mayOpen && dice.chance(this.#split === null ? 0.2 : 0.5)) await this.#open()
    for (const tab of this.#openTabs()) await this.#use(tab, isBusy)
    if (this.#split === null) await this.#mineAt(dice.pick(this.nodes))
    else await this.#mineApart(this.#split)
    this.#lookAtDues()
  }

  async #open(): Promise<void> {
    const dice = this.#dice
    const [wallet, stall] = [dice.pick(PAYERS), dice.pick(this.stalls)]
    const tab = await openSimTab(stall.node, { wallet, stall, dice, ends: this.#size.ends })
    if (tab === null) return
    this.tabs.push(tab)
    const other = this.#split === null ? undefined : this.nodes.find((node) => !this.#isWith(node, stall.node))
    if (other === undefined || !dice.chance(0.7)) return
    // A thief spends the same nonce on the other side of the split.
    const { nonce } = tab.opening.body
    const transfer = { to: wallet.address, amount: units(1), create: false }
    const theft = await other.life.mempool.submit(await signedAt(other, wallet, 'transfer', transfer, { nonce }))
    if (theft.ok) this.counts.doubleSpends += 1
  }

  async #use(tab: SimTab, isBusy: boolean): Promise<void> {
    const dice = this.#dice
    const record = tabAt(tab.stall.node, tab)
    if (record === undefined) return
    if (dice.chance(tab.busyness))
      void callOn(tab, dice).then((isDelivered) => {
        this.counts.calls += isDelivered ? 1 : 0
      })
    if (dice.chance(0.01) && record.closesAt === 0) await this.#fund(tab)
    const isOver = !isBusy || dice.chance(0.01)
    if (isOver && !tab.isEnding && dice.chance(0.05)) await this.#end(tab)
    else if (tab.end === 'close' && tab.isEnding && record.closesAt === 0) await this.#close(tab)
  }

  async #fund({ stall: { node }, wallet, tabId }: SimTab): Promise<void> {
    const amount = units(10_000_000 + this.#dice.below(100_000_000))
    const fund = await signedAt(node, wallet, 'tab_fund', { tabId, amount })
    const funded = await node.life.mempool.submit(fund)
    const other = this.nodes.find((one) => !this.#isWith(one, node))
    if (!funded.ok || other === undefined || !this.#dice.chance(0.5)) return
    const transfer = { to: wallet.address, amount, create: false }
    const theft = await signedAt(other, wallet, 'transfer', transfer, { nonce: fund.body.nonce })
    if ((await other.life.mempool.submit(theft)).ok) this.counts.doubleSpends += 1
  }

  async #end(tab: SimTab): Promise<void> {
    tab.isEnding = true
    if (tab.end === 'refund') await askRefund(tab)
    if (tab.end !== 'close') return
    await this.#close(tab)
    // A flood lasts for the close delays of all who close meanwhile.
    const left = tabAt(tab.stall.node, tab)?.closeDelay ?? 0
    if (this.#flood !== null) this.#flood.left = Math.max(this.#flood.left, left)
    else if (this.#dice.chance(FLOODS)) this.#flood = { tip: this.#dice.pick(this.#size.floodTips), left }
  }

  /** The payer's node is any that the payer can reach. */
  async #close({ tabId, wallet, stall: { node } }: SimTab): Promise<void> {
    if (node.life.mempool.ofAccount(wallet.address).some(({ body }) => body.kind === 'tab_close')) return
    await node.life.mempool.submit(await signedAt(node, wallet, 'tab_close', { tabId }))
  }

  #part(): void {
    const dice = this.#dice
    const [first, ...rest] = dice.shuffled(this.nodes)
    const losing = new Set([first as SimNode, ...rest.slice(1).filter(() => dice.chance(0.5))])
    // Deep ones are rare, or little else would be seen.
    const depth = dice.chance(0.3) ? 1 + dice.below(DEPTH_MAX) : 1 + dice.below(6)
    this.#split = { losing, left: depth }
    this.counts.splits += 1
    const groups = new Map(this.nodes.map((node) => [node.name, losing.has(node) ? 1 : 0]))
    this.network.split((name) => groups.get(name) ?? 0)
  }

  #isWith(one: SimNode, other: SimNode): boolean {
    return this.#split === null || this.#split.losing.has(one) === this.#split.losing.has(other)
  }

  async #mineApart(split: Split): Promise<void> {
    const [losing, winning] = [true, false].map((side) => this.nodes.filter((node) => split.losing.has(node) === side))
    const winner = this.#dice.pick(winning as SimNode[])
    if (split.left > 0) {
      split.left -= 1
      await this.#find(this.#dice.pick(losing as SimNode[]))
      return this.#mineAt(winner)
    }
    await this.#mineAt(winner)
    this.network.split(undefined)
    this.#split = null
    const until = this.time.nowMs + HEAL_MS
    const heads = (): number => new Set(this.nodes.map(({ life }) => life.chain.head.id)).size
    while (heads() > 1 && this.time.nowMs < until) await this.time.pass(SPACING_MS)
    if (heads() > 1) this.complaints.push(`seed ${this.seed}: the nodes do not agree after a split`)
  }

  async #mineAt(node: SimNode): Promise<void> {
    await this.#find(node)
    await this.time.pass(SPACING_MS)
  }

  /** Finds a block at a node, with what waits there. */
  async #find(node: SimNode): Promise<void> {
    await this.#fill(node)
    const { chain, mempool, time } = node.life
    const miner = node.traits.rewardTo
    const request = { miner, nowMs: time.now(), candidates: mempool.candidates(), extra: this.#dice.bytes(32) }
    const template = await buildTemplate(chain, UNPACED, request)
    if (template === undefined) return void this.complaints.push(`seed ${this.seed}: ${node.name} builds no block`)
    const { header, bytes, transactions } = template.block
    const { pow } = chain.ruleBook.at(header.height).block
    const job = { input: powInput(bytes), target: uintBE(header.target, 32), cost: pow, start: 0n, stride: 1n }
    const nonce = searchNonce(job, cheapPow, { stopped: () => false, onHash: () => {} })
    const block = { ...sealHeader({ ...header, nonce: nonce as bigint }), transactions }
    this.heardBy.set(block.id, new Set(this.nodes.filter((other) => this.#isWith(node, other))))
    const imported = chain.import(block)
    await this.time.pass(20)
    const outcome = await imported
    if (!outcome.ok) this.complaints.push(`seed ${this.seed}: ${node.name}: own block ${outcome.fault.code}`)
  }

  /** While a flood lasts, more waits at the miner than one block can hold, and no claim fits beside it. */
  async #fill(node: SimNode): Promise<void> {
    const flood = this.#flood
    if (flood === null) return
    this.counts.floodedBlocks += 1
    flood.left -= 1
    if (flood.left <= 0) this.#flood = null
    const [large, larger, small] = FLOODERS as [SellerKey, SellerKey, SellerKey]
    const { mempool } = node.life
    const options = { tip: flood.tip, maxFeeRate: 1_000_000n }
    const missing = ({ address }: SellerKey, wanted: number): number => wanted - mempool.ofAccount(address).length
    for (const wallet of [large, larger])
      for (let left = missing(wallet, FLOOD_LARGE); left > 0; left--) {
        const { address } = wallet
        const agent = { agentId: agentId(`flood-${this.#agents++}`), payout: address, settlers: [] }
        await mempool.submit(await signedAt(node, wallet, 'agent_register', SAMPLE.agent_register(agent), options))
      }
    for (let left = missing(small, FLOOD_SMALL); left > 0; left--) {
      const transfer = { to: large.address, amount: units(1), create: false }
      await mempool.submit(await signedAt(node, small, 'transfer', transfer, options))
    }
  }

  /** No node's state has a tab past its due height. */
  #lookAtDues(): void {
    for (const node of this.nodes)
      for (const tab of this.tabs) {
        const record = tabAt(node, tab)
        const due = record === undefined ? Number.POSITIVE_INFINITY : record.closesAt || record.expiresAt
        if (node.life.chain.head.header.height >= due)
          this.complaints.push(`seed ${this.seed}: tab ${tab.tabId} is past its due height at ${node.name}`)
      }
  }
}
