import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { Timers } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../../../src/p2p/network.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import type { SnapshotDoor, SnapshotPlan } from '../../../src/p2p/sync/snapshot-door.ts'
import { blocksFrom, importAll } from '../branches.ts'
import type { TestChain } from '../chain.ts'

/**
 * A `SnapshotDoor` that keeps the headers it gets. Taking a snapshot works only if the peer `pruned` serves it: then the blocks up to it
 * are imported.
 */
export class KeepingDoor implements SnapshotDoor {
  readonly kept: HeaderTip[] = []
  readonly plans: SnapshotPlan[] = []
  chain: TestChain | undefined
  isShortened = false
  /** Whether taking this snapshot goes on until the plan gives way or is stopped. */
  crawls: (plan: SnapshotPlan) => boolean = () => false
  readonly #source: TestChain
  readonly #timers: Timers

  constructor(source: TestChain, timers: Timers) {
    this.#source = source
    this.#timers = timers
  }

  keptTip(): HeaderTip | undefined {
    return this.kept.at(-1)
  }

  keptAt(height: number): HeaderTip | undefined {
    return this.kept.find(({ header }) => header.height === height)
  }

  async dropHeaders(): Promise<void> {
    this.kept.length = 0
  }

  async keepHeaders(headers: readonly HeaderTip[]): Promise<void> {
    this.kept.push(...headers)
  }

  async shortenHeaders(): Promise<boolean> {
    if (this.isShortened) return false
    this.kept.length = Math.max(0, this.kept.length - 100)
    this.isShortened = true
    return true
  }

  async run(plan: SnapshotPlan) {
    this.plans.push(plan)
    for (let slowMs = 0; this.crawls(plan) && !plan.givesWay(slowMs) && !plan.stopped(); slowMs += 1_000)
      await pause(this.#timers, 1_000)
    if (!plan.peers().includes('pruned' as PeerId))
      return fail(fault('p2p/snapshot-unserved', { height: plan.snapshot.height }))
    await importAll(
      this.chain as TestChain,
      blocksFrom(this.#source, 1).slice(0, plan.snapshot.height),
      plan.tip.totalWork,
    )
    this.kept.length = 0
    return ok(undefined)
  }
}
