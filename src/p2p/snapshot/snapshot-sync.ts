import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import { adoptionPath } from '../../../consensus/chain/adoption-path.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { collect, type KeyValueStore, prefixRange } from '../../../consensus/chain/key-value.ts'
import { type BlockEntry, KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import type { Clock, Pacer, Timers } from '../../../consensus/chain/ports.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../consensus/primitives/fault-table.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { NetworkLog } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import type { SnapshotDoor, SnapshotPlan } from '../sync/snapshot-door.ts'
import type { ProtocolName } from '../wire/protocols.ts'
import type { Course } from './course.ts'
import { clearPrefix, clearRange, derive } from './derived.ts'
import { Download } from './download.ts'
import { KeptHeaders } from './kept-headers.ts'
import { KeyCourse } from './key-course.ts'
import { PageCourse } from './page-course.ts'
import { RecordCourse } from './record-course.ts'
import { readTaking, STAGES, type TakingMark, takingWrite } from './taking-mark.ts'

/** What taking a snapshot works with. */
export interface SnapshotSyncDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  readonly pacer: Pacer
  readonly log: NetworkLog
}

/** Progress at which each stage begins, as it is reported. The real sizes are not known beforehand. */
const STAGE_PART = [0, 0.45, 0.85, 0.9] as const
const NO_BYTES = new Uint8Array(0)
/** Faults of kept headers that do not connect to a good block of the chain. */
const NO_WAY: readonly FaultCode[] = ['chain/unknown-parent', 'chain/invalid-ancestor']

/**
 * Takes a state from peers instead of executing all blocks: pages of its tree, its records, the keys of its accounts. Each part is proven
 * on arrival. At the end all is read again from the disk, and its root is worked out. Stored parts outlast restarts.
 */
export class SnapshotSync implements SnapshotDoor {
  readonly #deps: SnapshotSyncDependencies
  readonly #kept: KeptHeaders
  #running: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(dependencies: SnapshotSyncDependencies) {
    this.#deps = dependencies
    this.#kept = new KeptHeaders(dependencies.chain.database.store)
  }

  keptTip(): HeaderTip | undefined {
    return this.#kept.tip
  }

  keptAt(height: number): BlockEntry | undefined {
    return this.#kept.tipAt(height)
  }

  keepHeaders(headers: readonly HeaderTip[]): Promise<void> {
    return this.#kept.keep(headers)
  }

  shortenHeaders(): Promise<boolean> {
    return this.#kept.shorten()
  }

  dropHeaders(): Promise<void> {
    return this.#kept.drop()
  }

  /** Waits for the snapshot that is being taken, whose plan says when it stops, or for a deletion. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  run(plan: SnapshotPlan): Promise<Result<void>> {
    return this.#next(() => this.#run(plan))
  }

  /**
   * Deletes what an earlier state left in the staging store, and the headers that led to the present one. Call it also once after the
   * start, since a crash may have interrupted it. It waits while a snapshot is taken. Rejects if the disk fails.
   */
  clearResidue(): Promise<void> {
    return this.#next(() => this.#clearResidue())
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#running.then(work)
    this.#running = run.catch(() => {})
    return run
  }

  async #run(plan: SnapshotPlan): Promise<Result<void>> {
    const { height, id } = plan.snapshot
    const entry = this.#kept.tipAt(height)
    if (entry?.id !== id || height <= this.#deps.chain.head.header.height)
      return fail(fault('p2p/snapshot-unserved', { height }))
    // The path is checked before anything is fetched. A state without a path from the best chain is of no use.
    const path = adoptionPath(this.#deps.chain.database, height)
    await this.#clearResidue()
    const taken = path.ok ? await this.#take(plan, entry) : path
    const adopted = taken.ok ? await this.#deps.chain.adopt(height) : taken
    // The kept headers lead nowhere from here. The next walk begins at the fork.
    if (!adopted.ok && NO_WAY.includes(adopted.fault.code)) await this.#kept.drop()
    // Every part was proven as it came, so no peer is to blame. Nothing of the state is kept.
    if (!adopted.ok && adopted.fault.code === 'chain/state-unproven') await this.#deps.chain.database.staged.discard()
    if (!adopted.ok) return adopted
    await this.#kept.drop()
    await this.#clearResidue()
    plan.report(1)
    this.#deps.log.info({ height, id }, 'the state of a snapshot was taken; blocks before it were not executed here')
    return ok(undefined)
  }

  async #clearResidue(): Promise<void> {
    const { database } = this.#deps.chain
    const stopped = (): boolean => this.#stopped
    if (database.store.get(KEYS.meta('residue')) === undefined) return
    for (const prefix of ['state', 'page', 'index'] as const)
      await clearPrefix(database.staged.store(), prefixKey(prefix), stopped)
    // Headers above the base may have been kept meanwhile, for a newer snapshot.
    await clearRange(database.store, { gte: prefixKey('kept'), lt: KEYS.kept(database.base + 1) }, stopped)
    if (!this.#stopped) await database.store.batch([{ key: KEYS.meta('residue') }], () => {})
  }

  async #take(plan: SnapshotPlan, entry: BlockEntry): Promise<Result<void>> {
    const { chain, pacer, peers } = this.#deps
    const { staged } = chain.database
    const staging = staged.store()
    const { stopped, givesWay } = plan
    const parts = { staging, pacer, stopped }
    const isBrokenOff = (): boolean => stopped() || givesWay(download.slowMs)
    await this.#begin(staging, entry)
    const download: Download = new Download({
      ...this.#deps,
      candidates: plan.peers,
      stopped: isBrokenOff,
      height: entry.header.height,
    })
    const blame = (peer: Parameters<typeof download.blame>[0]): void => {
      download.blame(peer)
      peers.report(peer, 'bad-state', 'records left out')
    }
    const courses: Record<number, (mark: TakingMark) => Course<ProtocolName>> = {
      [STAGES.pages]: (mark) => new PageCourse(parts, mark, fromHex(entry.header.stateRoot)) as never,
      [STAGES.records]: (mark) => new RecordCourse(parts, mark, blame) as never,
      [STAGES.keys]: (mark) => new KeyCourse(parts, mark) as never,
    }
    for (let mark = mustMark(staging); mark.stage < STAGES.derived; mark = await this.#nextStage(staging)) {
      plan.report(STAGE_PART[mark.stage] as number)
      const course = courses[mark.stage]?.(mark) as Course<ProtocolName>
      const followed = await this.#follow(download, course)
      if (!followed.ok) return followed
    }
    plan.report(STAGE_PART[STAGES.derived])
    if (isBrokenOff()) return fail(fault('chain/stopped'))
    const proven = await staged.prove(entry.header.height, { pacer, stopped })
    if (!proven.ok) return proven
    const derived = await derive({ staging, ruleBook: chain.ruleBook, pacer, stopped })
    return derived ? ok(undefined) : fail(fault('chain/stopped'))
  }

  async #follow(download: Download, course: Course<ProtocolName>): Promise<Result<void>> {
    if (course instanceof PageCourse) {
      await course.reuse()
      if (course.done) return ok(undefined)
    }
    return download.follow(course)
  }

  async #nextStage(staging: KeyValueStore): Promise<TakingMark> {
    const mark = mustMark(staging)
    const next = { ...mark, stage: mark.stage + 1, after: NO_BYTES, begun: false }
    await staging.batch([takingWrite(next)], () => {})
    return next
  }

  /** Goes on with the same snapshot, or begins another over the stored parts of an older one. */
  async #begin(staging: KeyValueStore, { id, header }: BlockEntry): Promise<void> {
    if (readTaking(staging)?.id === id) return
    const mark: TakingMark = {
      ...{ height: header.height, id, stage: STAGES.pages, after: NO_BYTES, begun: false, leaves: 0, records: 0 },
      stale: !((await isEmpty(staging, prefixKey('page'))) && (await isEmpty(staging, prefixKey('state')))),
    }
    await staging.batch([takingWrite(mark)], () => {})
  }
}

async function isEmpty(store: KeyValueStore, prefix: Uint8Array): Promise<boolean> {
  const first = await collect(store.range({ ...prefixRange(prefix), limit: 1 }), ([key]) => key)
  return first.length === 0
}

function mustMark(staging: KeyValueStore): TakingMark {
  return readTaking(staging) as TakingMark
}
