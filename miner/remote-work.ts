import type { Block } from '../consensus/block/block.ts'
import { sealHeader } from '../consensus/block/header.ts'
import type { WorkVerifier } from '../consensus/block/pow.ts'
import type { Chain } from '../consensus/chain/chain.ts'
import type { Clock, Pacer, Timers } from '../consensus/chain/ports.ts'
import type { Holder } from '../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { Address } from '../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import type { Mempool } from '../mempool/mempool.ts'
import { JOBS_PER_ADDRESS, JobBook, type JobListener, type Mined, type RemoteJob, type Seat } from './job-book.ts'
import { REFRESH_MS } from './miner.ts'
import { dropGuilty, dropHopeless, FULL_REFUSALS_MAX } from './refusals.ts'
import { isUnused, listenersOf, NOTHING, Seats } from './seats.ts'
import { buildTemplate, type Template } from './template.ts'

/** The parts that work for external miners is made with. */
export interface RemoteWorkDependencies {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly verifier: WorkVerifier
  readonly clock: Clock
  readonly pacer: Pacer
  readonly timers: Timers
  /** 32 bytes that separate these headers from those of the node's own miner. */
  readonly extra: Uint8Array
  /** Why mining on the present head is useless, such as that the node is syncing or stopping; else empty. */
  readonly notReadyBecause: () => readonly string[]
  readonly onMined: (block: Block) => void
  /** The chain refused a solved block. A late block is not refused: it becomes a side block. */
  readonly onRefused: (block: Block, fault: Fault) => void
  /** An error that no miner can cause: a bug, or a failing disk. */
  readonly onFatal: (error: unknown) => void
}

/** A client is forgotten after this time without a request or a subscription. */
export const UNUSED_MS = 60_000
/** Age at which a waiting header gets a new time. */
export const RETIME_MS = 5_000
/** Longest wait for a template. Building empty ones for all addresses takes less. */
export const WAIT_MS_MAX = 5_000
/** Most submissions that are checked at the same time. */
export const CHECKING_MAX = 32
/** Pause after a full template, as a multiple of its building time, to leave time for the node's other work. */
const REST_FACTOR = 3
const REST_MS_MAX = 2_000

/**
 * Work for miners outside this process. Each address has its own templates, since the state root depends on who is
 * paid: an empty one when the head moves, then full ones.
 */
export class RemoteWork {
  readonly #deps: RemoteWorkDependencies
  readonly #book = new JobBook()
  readonly #seats = new Seats((seat) => {
    this.#endUnmined(seat)
    endListeners(seat)
  })
  #admissions = 0
  #refusals = 0
  #checking = 0
  #building = false
  #resting = false
  #stopped = false
  #idle: Promise<void> = Promise.resolve()
  #cancelTick: (() => void) | undefined
  #cancelRest: () => void = () => {}

  constructor(dependencies: RemoteWorkDependencies) {
    this.#deps = dependencies
    dependencies.chain.onHeadChange(() => {
      this.#refusals = 0
      // A pause after a template for the old head must not delay the full templates for the new one.
      this.#endRest()
      this.#startOver()
    })
    dependencies.mempool.onAdmission(() => {
      this.#admissions += 1
    })
  }

  get addresses(): number {
    return this.#seats.mined.length
  }

  get jobs(): number {
    return this.#book.size
  }

  /** The newest job of an address. Faults: `mining/not-ready`, `mining/busy`. */
  async template(address: Address, holder: Holder): Promise<Result<RemoteJob>> {
    const seat = this.#seatFor(address, holder)
    if (!seat.ok) return seat
    const newest = this.#newest(seat.value.mined)
    return newest === undefined ? this.#awaitJob(seat.value) : ok(newest)
  }

  /**
   * Calls a listener with the address's newest job and all later ones. The returned function ends the subscription.
   * Faults: those of {@link template}.
   */
  subscribe(address: Address, listener: JobListener, holder: Holder): Result<() => void> {
    const seat = this.#seatFor(address, holder)
    if (!seat.ok) return seat
    const { listeners, mined } = seat.value
    listeners.add(listener)
    const newest = this.#newest(mined)
    if (newest !== undefined) listener.job(newest)
    return ok(() => {
      listeners.delete(listener)
      seat.value.usedMs = this.#deps.clock.now()
    })
  }

  /**
   * Submits a nonce for a job. Faults: `mining/unknown-job`, `mining/stale-job`, `mining/low-work`, `mining/busy`, and
   * those of a block that the chain refuses.
   */
  async submit(jobId: string, nonce: bigint): Promise<Result<Block>> {
    const job = this.#book.get(jobId)
    if (job === undefined) return fail(this.#book.isDead(jobId) ? stale(jobId) : fault('mining/unknown-job', { jobId }))
    if (!this.#isCurrent(job)) return fail(stale(jobId))
    if (this.#checking >= CHECKING_MAX) return fail(fault('mining/busy'))
    const { block } = job.template
    const solved = { ...sealHeader({ ...block.header, nonce }), transactions: block.transactions }
    this.#checking += 1
    try {
      if (!(await this.#meetsTarget(solved))) return fail(fault('mining/low-work', { jobId }))
    } finally {
      this.#checking -= 1
    }
    return this.#isCurrent(job) ? this.#import(solved, jobId) : fail(stale(jobId))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTick?.()
    this.#endRest()
    for (const seat of this.#seats.all) {
      this.#seats.drop(seat)
      endListeners(seat)
    }
    await this.#idle
  }

  get #blocked(): readonly string[] {
    return this.#stopped ? ['stopping'] : this.#deps.notReadyBecause()
  }

  #seatFor(address: Address, holder: Holder): Result<Seat> {
    const reasons = this.#blocked
    if (reasons.length > 0) return fail(fault('mining/not-ready', { reasons }))
    const seat = this.#seats.take(address, holder, this.#deps.clock.now())
    if (seat === undefined) return fail(fault('mining/busy'))
    this.#cancelTick ??= this.#scheduleTick()
    this.#work()
    return ok(seat)
  }

  #endUnmined({ mined }: Seat): void {
    if (mined.seats.size > 0) return
    this.#book.end(mined.jobs)
    mined.jobs = []
  }

  #newest({ jobs: [newest] }: Mined): RemoteJob | undefined {
    return newest !== undefined && this.#isCurrent(newest) ? newest : undefined
  }

  #isCurrent({ template }: RemoteJob): boolean {
    const { chain } = this.#deps
    return template.parent.id === chain.head.id && !chain.moving
  }

  #awaitJob(seat: Seat): Promise<Result<RemoteJob>> {
    return new Promise((resolve) => {
      const done = (result: Result<RemoteJob>): void => {
        cancel()
        seat.listeners.delete(listener)
        resolve(result)
      }
      const listener: JobListener = {
        job: (job) => done(ok(job)),
        end: () =>
          done(fail(this.#stopped ? fault('mining/not-ready', { reasons: ['stopping'] }) : fault('mining/busy'))),
      }
      const cancel = this.#deps.timers.after(WAIT_MS_MAX, () => done(fail(fault('mining/busy'))))
      seat.listeners.add(listener)
    })
  }

  /** Ends all jobs. Each address is owed an empty template, then a full one. */
  #startOver(): void {
    for (const mined of this.#seats.mined) {
      this.#book.end(mined.jobs)
      mined.jobs = []
      mined.owed = true
      mined.knows = NOTHING
    }
    this.#work()
  }

  #work(): void {
    if (this.#building || this.#stopped) return
    this.#building = true
    this.#idle = this.#buildAll()
      .catch((error: unknown) => {
        this.#stopped = true
        this.#deps.onFatal(error)
      })
      .finally(() => {
        this.#building = false
        // Another template may have become due after the last look.
        if (this.#next() !== undefined) this.#work()
      })
  }

  async #buildAll(): Promise<void> {
    // A head listener may be the caller. The other listeners of that head run first.
    await Promise.resolve()
    for (let mined = this.#next(); mined !== undefined; mined = this.#next()) await this.#buildFor(mined)
  }

  /** Addresses without a job come first, those with most listeners before others; then those owed a full template. */
  #next(): Mined | undefined {
    const { mined } = this.#seats
    if (mined.length === 0 || this.#blocked.length > 0 || this.#deps.chain.moving) return undefined
    const all = mined.toSorted((a, b) => listenersOf(b).length - listenersOf(a).length)
    const idle = all.find(({ jobs }) => jobs.length === 0)
    if (idle !== undefined || this.#resting) return idle
    return all.find((mined) => mined.owed && this.#wantsFull(mined))
  }

  #wantsFull({ knows }: Mined): boolean {
    const full = this.#deps.mempool.count > 0 && this.#refusals < FULL_REFUSALS_MAX
    return full && knows < this.#admissions
  }

  async #buildFor(mined: Mined): Promise<void> {
    const { mempool, clock } = this.#deps
    if (mined.jobs.length === 0) return this.#build(mined, [])
    const [startedMs, known] = [clock.now(), this.#admissions]
    mined.owed = false
    mined.knows = known
    await this.#build(mined, mempool.candidates())
    this.#rest(Math.min(REST_MS_MAX, (clock.now() - startedMs) * REST_FACTOR))
  }

  async #build(mined: Mined, candidates: Iterable<Transaction>): Promise<void> {
    const { chain, pacer, clock, extra, mempool } = this.#deps
    const request = { miner: mined.address, nowMs: clock.now(), candidates, extra }
    const template = await buildTemplate(chain, pacer, request)
    // The head moved, so every address is owed a new template.
    if (template === undefined || this.#stopped || !this.#seats.has(mined)) return
    dropHopeless(mempool, template)
    this.#publish(mined, template)
  }

  #publish(mined: Mined, template: Template): void {
    const job = JobBook.job(template, this.#deps.clock.now())
    this.#book.add(job)
    const jobs = [job, ...mined.jobs.filter(({ id }) => id !== job.id)]
    this.#book.end(jobs.slice(JOBS_PER_ADDRESS))
    mined.jobs = jobs.slice(0, JOBS_PER_ADDRESS)
    for (const listener of listenersOf(mined)) listener.job(job)
  }

  #rest(ms: number): void {
    if (ms <= 0) return
    this.#resting = true
    this.#cancelRest = this.#deps.timers.after(ms, () => {
      this.#resting = false
      this.#work()
    })
  }

  #endRest(): void {
    this.#cancelRest()
    this.#resting = false
  }

  #scheduleTick(): () => void {
    return this.#deps.timers.after(REFRESH_MS, () => {
      this.#cancelTick = undefined
      this.#tick()
      if (this.#seats.all.length > 0 && !this.#stopped) this.#cancelTick = this.#scheduleTick()
    })
  }

  #tick(): void {
    const nowMs = this.#deps.clock.now()
    for (const seat of this.#seats.all) {
      if (!isUnused(seat) || nowMs - seat.usedMs < UNUSED_MS) continue
      this.#seats.drop(seat)
      this.#endUnmined(seat)
    }
    for (const mined of this.#seats.mined) this.#refresh(mined, nowMs)
    this.#work()
  }

  #refresh(mined: Mined, nowMs: number): void {
    const newest = this.#newest(mined)
    if (newest === undefined) return
    if (this.#wantsFull(mined)) mined.owed = true
    if (nowMs - newest.madeMs >= RETIME_MS) {
      // The state does not depend on the time, so only the header changes.
      const { block } = newest.template
      const header = { ...block.header, timeMs: Math.max(nowMs, block.header.timeMs) }
      this.#publish(mined, {
        ...newest.template,
        block: { ...sealHeader(header), transactions: block.transactions },
      })
    }
  }

  async #meetsTarget({ header, bytes, id }: Block): Promise<boolean> {
    const { chain, verifier } = this.#deps
    const { pow } = chain.ruleBook.at(header.height).block
    const [meets] = await verifier.verifyWork([{ bytes, target: header.target, cost: pow }])
    if (meets === true) chain.proven.add(id)
    return meets === true
  }

  async #import(block: Block, jobId: string): Promise<Result<Block>> {
    const { chain, mempool, onMined, onRefused } = this.#deps
    const outcome = await chain.import(block)
    if (outcome.ok && outcome.value === 'connected') {
      onMined(block)
      return ok(block)
    }
    // Another block came first, so this one is a side block; or the same nonce was submitted twice at once.
    if (outcome.ok || outcome.fault.code === 'chain/known-block') return fail(stale(jobId))
    onRefused(block, outcome.fault)
    dropGuilty(mempool, block, outcome.fault)
    this.#refusals += 1
    this.#startOver()
    return outcome
  }
}

function endListeners({ listeners }: Seat): void {
  for (const listener of [...listeners]) listener.end()
}

function stale(jobId: string): Fault {
  return fault('mining/stale-job', { jobId })
}
