import type { Chain } from '../../consensus/chain/chain.ts'
import type { HeadChange } from '../../consensus/chain/events.ts'
import { FINAL_DEPTH } from './settings.ts'

/** A message to the operator: facts for the log, and a text. */
export interface ChainAlert {
  readonly kind: 'reorganised' | 'branch-refused'
  readonly facts: Readonly<Record<string, string | number>>
  readonly message: string
}

/** What a watch works with. */
export interface ChainWatchDependencies {
  readonly chain: Chain
  /** Depth from which a reorganisation is reported and pauses the market. */
  readonly pauseDepth: number
  /** Whether this node is synced, has peers, and did not just start. Only then is a deep reorganisation unusual. */
  readonly settled: () => boolean
  /** Whether this node's chain is known to be behind that of other nodes. */
  readonly behind: () => boolean
  readonly onAlert: (alert: ChainAlert) => void
}

/** Blocks for which a reorganisation stays among the warnings: about an hour. */
const REMEMBER_BLOCKS = 1_200
/** Blocks that a refused branch must grow before the operator is told of it again. */
const REPEAT_BLOCKS = 100

interface Reorganisation {
  readonly depth: number
  readonly height: number
  /** Height at which the market sells again. */
  readonly pausedUntil: number
}

/** A heavier branch that is not taken. */
interface Standoff {
  readonly forkHeight: number
  /** Height of its tip when the operator was told. */
  readonly toldAt: number
  readonly text: string
}

/** Says why nothing may be sold while the chain is not reliable, and reports deep reorganisations and refused branches to the operator. */
export class ChainWatch {
  readonly #deps: ChainWatchDependencies
  #last: Reorganisation | null = null
  #refused: Standoff | null = null

  constructor(dependencies: ChainWatchDependencies) {
    this.#deps = dependencies
    const { chain } = dependencies
    chain.onHeadChange((change) => {
      this.#judge(change)
      this.check()
    })
    chain.onBranchRefused(() => this.check())
  }

  /** Looks for a heavier branch that waits for the operator. Call once after a start; later looks happen by themselves. */
  check(): void {
    const { chain } = this.#deps
    const branch = chain.refusedBranch
    if (branch === null) {
      this.#refused = null
      return
    }
    const { tip, depth, depthMax, isReachable } = branch
    const { id, header } = chain.head
    const { height } = header
    const forkHeight = height - depth
    const text =
      `a heavier branch that forks ${depth} blocks back at height ${forkHeight} waits for the operator: ` +
      (isReachable
        ? `start with --chain-reorganisation-max ${depth} or more to take it`
        : 'those blocks cannot be unwound any more; only a fresh data folder can join that branch')
    const known = this.#refused
    const told = known !== null && known.forkHeight === forkHeight && tip.header.height < known.toldAt + REPEAT_BLOCKS
    this.#refused = { forkHeight, toldAt: told ? known.toldAt : tip.header.height, text }
    if (told) return
    const facts = { headHeight: height, headId: id, branchHeight: tip.header.height, branchId: tip.id, depth, depthMax }
    this.#deps.onAlert({ kind: 'branch-refused', facts, message: text })
  }

  /** Why the state of the chain lets nothing be sold now, or null. */
  get closedBecause(): string | null {
    const { behind, chain } = this.#deps
    if (behind()) return 'the node is syncing'
    if (this.#refused !== null) return 'a heavier branch of the chain waits for the operator of this node'
    const last = this.#last
    if (last === null || chain.head.header.height >= last.pausedUntil) return null
    return `the chain reorganised (${last.depth} blocks); sales go on from height ${last.pausedUntil}`
  }

  get warnings(): readonly string[] {
    const { height } = this.#deps.chain.head.header
    const last = this.#last
    const recent = last !== null && height < last.height + REMEMBER_BLOCKS
    return [
      ...(this.#refused === null ? [] : [this.#refused.text]),
      ...(recent ? [`the chain reorganised ${last.depth} blocks deep at height ${last.height}`] : []),
    ]
  }

  #judge({ head, disconnected }: HeadChange): void {
    const { pauseDepth, settled, onAlert } = this.#deps
    const [before] = disconnected
    const depth = disconnected.length
    // A reorganisation that was undone ends at the old head.
    if (before === undefined || before.id === head.id || depth < pauseDepth || !settled()) return
    const { height } = head.header
    const pausedUntil = height + Math.max(pauseDepth, Math.min(depth, FINAL_DEPTH))
    this.#last = { depth, height, pausedUntil }
    const forkHeight = before.header.height - depth
    const facts = {
      ...{ depth, forkHeight, oldHeight: before.header.height, oldId: before.id },
      ...{ newHeight: height, newId: head.id, pausedUntil },
    }
    const message = `the chain reorganised ${depth} blocks deep; nothing is sold until height ${pausedUntil}`
    onAlert({ kind: 'reorganised', facts, message })
  }
}
