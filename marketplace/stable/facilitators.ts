import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { WorkSlots } from '../checkout/work-slots.ts'
import { Breaker } from './breaker.ts'
import type { Facilitator, FacilitatorRequest, FacilitatorVerdict, SupportVerdict } from './facilitator.ts'
import type { FacilitatorFacts } from './rail.ts'
import type { StableNetwork } from './terms.ts'

/** What a pool works with. */
export interface FacilitatorPoolDependencies {
  /** In the order in which they are tried. */
  readonly facilitators: readonly Facilitator[]
  readonly network: StableNetwork
  readonly clock: Clock
  readonly timers: Timers
}

/** What came of asking, and whom. */
export interface PoolVerdict {
  readonly verdict: FacilitatorVerdict
  /** Url of whoever said so; null where nobody was asked. */
  readonly by: string | null
}

const VERIFY_MS = 5_000
/** Checks asked for at once: a burst of calls must not keep a facilitator so busy that it looks dead. */
const VERIFY_AT_ONCE = 64
const SETTLE_MS = 30_000
const CHECK_MS = 5_000
/** How often a facilitator is asked what it takes: while it answers well, and while it does not. */
const WELL_MS = 30_000
const ILL_MS = 2_000

/** One facilitator with what is known of it. */
interface Member {
  readonly facilitator: Facilitator
  readonly breaker: Breaker
  /** What it said last of what it takes; null before it was asked. */
  support: SupportVerdict | null
  detail: string
}

/**
 * Several facilitators as one. An authorization is bound to none of them, and can be used once: whoever is asked second
 * cannot charge twice.
 */
export class FacilitatorPool {
  readonly #deps: FacilitatorPoolDependencies
  readonly #members: readonly Member[]
  readonly #checks = new WorkSlots(VERIFY_AT_ONCE)
  #cancel: (() => void) | null = null
  #stopped = false

  constructor(dependencies: FacilitatorPoolDependencies) {
    this.#deps = dependencies
    this.#members = dependencies.facilitators.map((facilitator) => ({
      facilitator,
      breaker: new Breaker(),
      support: null,
      detail: 'not asked yet',
    }))
  }

  /** How each of them stands. */
  get facts(): readonly FacilitatorFacts[] {
    return this.#members.map((member) => ({
      url: member.facilitator.url,
      healthy: this.#isUsable(member),
      detail: member.detail,
    }))
  }

  /** Whether one of them said that it takes our scheme on our network. */
  get verified(): { readonly ok: boolean; readonly detail: string } {
    const good = this.#members.find(({ support }) => support?.ok)
    const named = ({ facilitator, detail }: Member): string => `${facilitator.url}: ${detail}`
    return { ok: good !== undefined, detail: good === undefined ? this.#members.map(named).join('; ') : named(good) }
  }

  /** Why nobody can be asked now, or null. */
  get closedBecause(): string | null {
    return this.#members.some((member) => this.#isUsable(member))
      ? null
      : 'no facilitator of the stablecoin rail can be used now'
  }

  /** Asks all of them what they take, now and from then on; resolves after the first round. */
  async start(): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#check(member)))
    this.#schedule()
  }

  /** Asks no more. */
  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  /** Has a payment checked by the first that says yes or no. */
  verify(request: FacilitatorRequest): Promise<PoolVerdict> {
    return this.#checks.run(() => this.#ask(this.#inOrder(null), (one) => one.verify(request, VERIFY_MS), false))
  }

  /**
   * Has a payment settled, by `first` if it can. The next is asked where it was not reached: what may have
   * happened is not known better by asking another at once.
   */
  settle(request: FacilitatorRequest, first: string | null): Promise<PoolVerdict> {
    return this.#ask(this.#inOrder(first), (one) => one.settle(request, SETTLE_MS), true)
  }

  /** Url of the next in turn after one, so that whoever repeats asks another each time. */
  after(url: string | null): string | null {
    const i = this.#members.findIndex(({ facilitator }) => facilitator.url === url)
    return this.#members[(i + 1) % this.#members.length]?.facilitator.url ?? null
  }

  async #ask(
    members: readonly Member[],
    ask: (facilitator: Facilitator) => Promise<FacilitatorVerdict>,
    isSettlement: boolean,
  ): Promise<PoolVerdict> {
    let last: PoolVerdict = {
      verdict: { is: 'unreachable', detail: this.closedBecause ?? 'nobody was asked' },
      by: null,
    }
    for (const member of members) {
      const verdict = await ask(member.facilitator)
      this.#note(member, verdict)
      last = { verdict, by: member.facilitator.url }
      const isFinal = verdict.is === 'good' || verdict.is === 'refused' || (isSettlement && verdict.is === 'unknown')
      if (isFinal) return last
    }
    return last
  }

  #note(member: Member, verdict: FacilitatorVerdict): void {
    if (verdict.is === 'good' || verdict.is === 'refused') {
      member.breaker.succeeded()
    } else {
      member.breaker.failed(this.#deps.clock.now())
      member.detail = verdict.detail
    }
  }

  /** Those that can be asked, the one named first. */
  #inOrder(first: string | null): readonly Member[] {
    const usable = this.#members.filter((member) => this.#isUsable(member))
    const leads = ({ facilitator }: Member): number => (facilitator.url === first ? 0 : 1)
    return usable.sort((a, b) => leads(a) - leads(b))
  }

  #isUsable({ support, breaker }: Member): boolean {
    return support?.ok === true && !breaker.isOpen(this.#deps.clock.now())
  }

  async #check(member: Member): Promise<void> {
    const said = await member.facilitator.supports(this.#deps.network, CHECK_MS)
    member.detail = said.detail
    // What it says that it takes is no sign that it works: only work closes its breaker.
    if (said.answered || member.support === null) member.support = said
    else member.breaker.failed(this.#deps.clock.now())
  }

  #schedule(): void {
    if (this.#stopped) return
    const isWell = this.#members.every((member) => this.#isUsable(member))
    this.#cancel = this.#deps.timers.after(isWell ? WELL_MS : ILL_MS, () => {
      void Promise.all(this.#members.map((member) => this.#check(member))).then(() => this.#schedule())
    })
  }
}
