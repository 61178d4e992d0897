import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { RequestText, readRequest } from '../services/service.ts'
import { ClaimsAway, type StoredClaim, type TillStore, unlessAway } from './claim-store.ts'
import { NO_CLIENT } from './failing-callers.ts'
import type { Ended, Held, Identity, Order, Rail, Settled, Steps, Task, TillCall, Verdict } from './rail.ts'
import type { MarketSettings } from './settings.ts'
import type { Shop } from './shop.ts'
import { type Stay, WaitingRoom } from './waiting-room.ts'
import { comparable, type Workshop } from './workshop.ts'

/** What a till works with. */
export interface TillDependencies<C extends StoredClaim> {
  readonly chain: Chain
  readonly shop: Shop
  readonly store: TillStore<C>
  readonly workshop: Workshop
  readonly settings: MarketSettings
  readonly clock: Clock
  readonly timers: Timers
  /** Called for errors in work that no caller waits for, such as those of a failing disk. */
  readonly onError: (error: unknown) => void
}

interface Running<C, I> extends Held<C, I> {
  readonly ended: Promise<Ended<C>>
}

/** Work that begins later. `cancel` is null if the work waits only for a new head. */
interface Parked {
  readonly begin: () => void
  readonly cancel: (() => void) | null
}

/** Pause between two looks at a claim that is worked on elsewhere, or at a reorganisation under way. */
const POLL_MS = 100
/** Maximum looks at one payment within one call. */
const TURNS_MAX = 5
/** How long a write is tried again while the store is away, and the pause between two tries. */
const TRY_MS = 30_000
const RETRY_MS = 250

/** The one state machine of a paid call, whatever it is paid with. See {@link Rail} for the states. */
export class Till<Call extends TillCall, C extends StoredClaim, I extends Identity, A extends C = C> {
  readonly #deps: TillDependencies<C>
  readonly #rail: Rail<Call, C, I, A>
  readonly #running = new Map<string, Running<C, I>>()
  readonly #parked = new Map<string, Parked>()
  readonly #room: WaitingRoom
  #stopped = false
  #abandoned = false

  constructor(dependencies: TillDependencies<C>, rail: Rail<Call, C, I, A>) {
    this.#deps = dependencies
    this.#rail = rail
    this.#room = new WaitingRoom(dependencies.timers)
    dependencies.chain.onHeadChange(() => {
      this.#room.wake()
      for (const id of [...this.#parked.keys()]) this.#unpark(id)
    })
  }

  /** Claims that are worked on in this process, whether or not a call waits for them. */
  get runningCount(): number {
    return this.#running.size
  }

  get isStopped(): boolean {
    return this.#stopped
  }

  /** The till writes no more, so the store may be closed. */
  get isAbandoned(): boolean {
    return this.#abandoned
  }

  isRunning(id: string): boolean {
    return this.#running.has(id)
  }

  /** Answers a paid call with a claim that is over, or with a fault. */
  async settle(call: Call): Promise<Result<Settled<A>>> {
    const outcome = await unlessAway(() => this.#settle(call))
    this.#rail.counted?.(outcome)
    return outcome
  }

  async handedOver(claim: A): Promise<void> {
    if (this.#abandoned) return
    try {
      await this.#rail.handedOver(claim)
    } catch (error) {
      this.tellError(error)
    }
  }

  /** Takes up what the last run left. The work itself is not waited for, so that a node with much work starts at once. */
  async resume(): Promise<void> {
    await this.#rail.starting?.()
    await this.takeUp()
    await this.#rail.started?.()
  }

  /** Takes up the open claims that this replica is to see to. */
  async takeUp(): Promise<void> {
    for (const claim of await this.#deps.store.open()) {
      const id = this.#rail.kind.idOf(claim)
      const isInHand = this.#running.has(id) || this.#parked.has(id)
      if (this.#rail.takeUp(claim, isInHand)) this.#resumeWork(claim)
    }
  }

  /** Lets go of all claims that are not worked on: other replicas have them. Work under way finds out at its next write. */
  forget(): void {
    for (const { cancel } of this.#parked.values()) cancel?.()
    this.#parked.clear()
    this.#rail.forget()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    const stopped = this.#rail.stop()
    this.#room.wake()
    await Promise.allSettled([stopped, ...[...this.#running.values()].map(({ ended }) => ended)])
  }

  /** Ends all writing. The next start takes up what is still under way. Call before the store closes. */
  abandon(): void {
    this.#abandoned = true
  }

  wake(): void {
    this.#room.wake()
  }

  /**
   * Moves a claim on if it is still in the given state. Tries again while the store is away, since finished work must not be lost. If the
   * answer to a write is lost, the write counts when the store holds exactly that claim. Throws {@link ClaimsAway} if the store stays away.
   */
  async advance(from: C['state'], next: C): Promise<boolean> {
    const { store, clock } = this.#deps
    const untilMs = clock.now() + TRY_MS
    for (let wasLost = false; !this.#abandoned; wasLost = true) {
      try {
        if (await store.advance(from, next)) return true
        return wasLost && comparable(await store.get(this.#rail.kind.idOf(next))) === comparable(next)
      } catch (error) {
        if (!(error instanceof ClaimsAway) || clock.now() >= untilMs || this.#abandoned) throw error
        await this.#room.pause(RETRY_MS)
      }
    }
    return false
  }

  /** Reports an error that no caller hears. A store that is away is not reported: the open claims are taken up when it is back. */
  tellError(error: unknown): void {
    if (!this.#abandoned && !(error instanceof ClaimsAway)) this.#deps.onError(error)
  }

  async #settle(call: Call): Promise<Result<Settled<A>>> {
    const { serviceId, request } = call
    const offer = call.offer ?? this.#deps.shop.offer(serviceId)
    if (offer === undefined) return fail(fault('service/not-found', { serviceId }))
    // A lone surrogate has no bytes to hash. Any other wrong request may still repeat a known call.
    const asked = new RequestText(offer.definition, request)
    if (!request.isWellFormed() && !asked.input.ok) return asked.input
    const order = { call, offer, asked, identity: this.#rail.identify(call) }
    // Once the till is abandoned, the store may be closed.
    for (let turn = 0; turn < TURNS_MAX && !this.#abandoned; turn++) {
      const outcome = (await this.#rail.named?.(order, turn)) ?? (await this.#turn(order))
      if (outcome !== null) return outcome
    }
    return fail(this.#rail.underWay(order))
  }

  /** Looks once at how the payment stands, and acts on it. Null if it has changed meanwhile. */
  async #turn(order: Order<Call, I>): Promise<Result<Settled<A>> | null> {
    const { id } = order.identity
    const running = this.#running.get(id)
    if (running !== undefined) return this.#join(running, order)
    const known = await this.#deps.store.get(id)
    const now = this.#rail.judge(order, known, false)
    const verdict = now.is === 'wait' ? await this.#awaitPayment(order, now) : now
    switch (verdict.is) {
      case 'take':
        return this.#take(order, verdict, known)
      case 'elsewhere':
        return this.#awaitElsewhere(order, verdict)
      case 'wait':
        return fail(verdict.why)
      case 'told':
        return verdict.outcome
      default:
        return null
    }
  }

  async #join(running: Running<C, I>, order: Order<Call, I>): Promise<Result<Settled<A>> | null> {
    const refusal = this.#rail.mayJoin(running, order)
    if (refusal !== null) return fail(refusal)
    const { clock } = this.#deps
    const { joinMs } = this.#rail
    const untilMs = clock.now() + (joinMs ?? 0)
    // New heads and other calls that end wake the room too: then this call waits on.
    const late = async (stay: Stay): Promise<'late'> => {
      while (clock.now() < untilMs && !this.#stopped && (await stay(untilMs - clock.now())));
      return 'late'
    }
    const waited = await this.#waiting(order, async (stay) => ({
      is: await (joinMs === null ? running.ended : Promise.race([running.ended, late(stay)])),
    }))
    if (waited === null || waited.is === 'late') return fail(this.#rail.underWay(order))
    return waited.is === null ? null : this.#rail.answer(order, waited.is, true)
  }

  async #awaitPayment(order: Order<Call, I>, now: Verdict<C, A>): Promise<Verdict<C, A>> {
    const { settings, clock } = this.#deps
    const untilMs = clock.now() + settings.settleWaitMs
    const later = await this.#waiting(order, async (stay) => {
      for (let verdict = now; ; verdict = this.#rail.judge(order, undefined, true)) {
        const leftMs = untilMs - clock.now()
        if (verdict.is !== 'wait' || leftMs <= 0 || this.#stopped || !(await stay(leftMs))) return verdict
      }
    })
    return later ?? now
  }

  async #awaitElsewhere(
    order: Order<Call, I>,
    { waitMs, hasMoved, why }: Extract<Verdict<C, A>, { is: 'elsewhere' }>,
  ): Promise<Result<Settled<A>> | null> {
    const { clock, store } = this.#deps
    const { id } = order.identity
    const untilMs = clock.now() + waitMs
    const moved = await this.#waiting(order, async (stay) => {
      while (clock.now() < untilMs && !this.#stopped && (await stay(POLL_MS)))
        if (this.#running.has(id) || hasMoved(await store.get(id))) return true
      return false
    })
    return moved === true ? null : fail(why())
  }

  /** Null if there is no place for it, or if it loses its place. */
  #waiting<T>({ identity: { id }, call }: Order<Call, I>, work: (stay: Stay) => Promise<T>): Promise<T | null> {
    return this.#room.run({ paymentId: id, from: call.from }, work)
  }

  /** Null if another call or replica has claimed the payment already. */
  async #take(
    order: Order<Call, I>,
    { claim, cause = null }: Extract<Verdict<C, A>, { is: 'take' }>,
    known: C | undefined,
  ): Promise<Result<Settled<A>> | null> {
    const { store } = this.#deps
    const { identity, offer, asked, call } = order
    const { definition } = offer
    const { input } = asked
    const reason = 'the node is stopping'
    if (this.#stopped) return fail(fault('service/unavailable', { serviceId: call.serviceId, reason }))
    if (this.#running.has(identity.id)) return null
    const task = { definition, input: input.ok ? input.value : undefined, client: call.from ?? NO_CLIENT }
    const write = async (): Promise<boolean> =>
      known === undefined ? (await store.claim(claim)) === null : store.advance(known.state, claim)
    const work = (): Promise<Ended<C>> =>
      cause === null ? this.#inPlace(claim, task) : this.#rail.end(claim, fail(cause))
    const ended = await this.#track({ claim, identity }, () => this.#carry(claim, { claim: write, work }, order))
    if (ended?.ok !== true) return ended
    // If another replica ended the work, the result may be deleted already. Then the rail says what the caller is told.
    const isKept = ended.value.result !== null
    return isKept ? ok({ claim: ended.value as A, replayed: false }) : this.#rail.answer(order, ended, false)
  }

  async #carry(claim: C, steps: Steps<C>, order: Order<Call, I> | null): Promise<Ended<C>> {
    if (this.#rail.carry !== undefined) return this.#rail.carry(claim, steps, order)
    let isClaimed = false
    try {
      isClaimed = await steps.claim()
      return isClaimed ? await steps.work() : null
    } catch (error) {
      if (!(error instanceof ClaimsAway)) throw error
      // A written claim stays open in the store, and is taken up when the store is back.
      return fail(isClaimed ? this.#rail.goesOn(claim) : error.fault)
    }
  }

  #track(held: Held<C, I>, work: () => Promise<Ended<C>>): Promise<Ended<C>> {
    const id = this.#rail.kind.idOf(held.claim)
    const ended = work().finally(() => {
      if (this.#running.get(id) === running) this.#running.delete(id)
    })
    const running = { ...held, ended }
    this.#running.set(id, running)
    return ended
  }

  #background(claim: C, work: () => Promise<Ended<C>>): void {
    this.#track({ claim, identity: null }, work).catch((error: unknown) => this.tellError(error))
  }

  #inPlace(claim: C, task: Task): Promise<Ended<C>> {
    const caller = { payer: this.#rail.kind.paidFor(claim).payer ?? '', client: task.client }
    return this.#deps.workshop.inPlace(task.definition, () => this.#work(claim, task), caller)
  }

  async #work(claim: C, task: Task): Promise<Ended<C>> {
    const { chain } = this.#deps
    // During a reorganisation the state of a payment is not known.
    while (chain.moving && !this.#stopped) await this.#room.pause(POLL_MS)
    const gate = this.#rail.mayBegin(claim, task)
    if (gate.is === 'refused') return this.#rail.end(claim, fail(gate.cause))
    if (gate.is === 'open') return this.#execute(claim, gate.begun, task)
    if (!this.#stopped) this.#park(claim, task, gate.ms)
    return fail(this.#rail.goesOn(claim))
  }

  async #execute(claim: C, begun: C, task: Task): Promise<Ended<C>> {
    const { shop, store, workshop } = this.#deps
    const rail = this.#rail
    // The next start does the work.
    if (this.#abandoned) return null
    const isOurs = rail.beginsPatiently ? this.advance(claim.state, begun) : store.advance(claim.state, begun)
    if (!(await isOurs)) return rail.lost?.(claim) ?? null
    const outcome = await workshop.run(task.definition, task.input, shop.context)
    rail.worked(task, { payer: rail.kind.paidFor(claim).payer ?? '', client: task.client }, outcome)
    return rail.end(begun, outcome)
  }

  /** If `ms` is null, the work begins only at the next head. */
  #park(claim: C, task: Task, ms: number | null): void {
    const id = this.#rail.kind.idOf(claim)
    const cancel = ms === null ? null : this.#deps.timers.after(ms, () => this.#unpark(id))
    this.#parked.set(id, { begin: () => this.#begin(claim, task), cancel })
  }

  #unpark(id: string): void {
    const parked = this.#parked.get(id)
    this.#parked.delete(id)
    parked?.cancel?.()
    parked?.begin()
  }

  /** The claim is in the store. */
  #begin(claim: C, task: Task): void {
    const steps: Steps<C> = { claim: async () => true, work: () => this.#inPlace(claim, task) }
    this.#background(claim, () => this.#carry(claim, steps, null))
  }

  /** If the rail does not allow it, the payment is given back, or left unused if no money has moved. */
  #resumeWork(claim: C): void {
    const { serviceId, request = '' } = claim
    const definition = this.#deps.shop.offer(serviceId)?.definition
    const input = definition === undefined ? undefined : readRequest(definition, request)
    const isReadable = definition !== undefined && input?.ok === true
    const cause = isReadable ? this.#rail.whyNotResumed(claim, definition) : fault('service/interrupted', { serviceId })
    if (cause === null && isReadable) this.#begin(claim, { definition, input: input.value, client: NO_CLIENT })
    else if (cause !== null) this.#background(claim, () => this.#rail.end(claim, fail(cause)))
  }
}
