import type { Clock, Timers } from '../../../../consensus/chain/ports.ts'
import { RecentCounts } from '../../client-counts.ts'
import { WaitingRoom } from '../../waiting-room.ts'
import { WorkSlots } from '../../workshop.ts'
import { Allowance, type Sharer } from './allowance.ts'
import {
  type Facilitator,
  type FacilitatorRequest,
  type FacilitatorVerdict,
  isOfPayer,
  isOfPayment,
  type SupportVerdict,
} from './facilitator.ts'
import type { DollarNetwork } from './terms.ts'

/** What a pool works with. */
export interface FacilitatorPoolDependencies {
  /** In the order in which they are tried. */
  readonly facilitators: readonly Facilitator[]
  readonly network: DollarNetwork
  readonly clock: Clock
  readonly timers: Timers
  /** Whether facilitators may well not take the scheme. Then one that says so is asked again as seldom as a usable one. */
  readonly isOptional?: boolean
}

/** The state of one facilitator. */
export interface FacilitatorFacts {
  readonly url: string
  readonly healthy: boolean
  /** Its last known state, in words for callers. */
  readonly detail: string
  /** Its last error in its own words, for the operator alone; null while all is well. */
  readonly trouble: string | null
}

/** A verdict, and the facilitator that gave it. */
export interface PoolVerdict {
  readonly verdict: FacilitatorVerdict
  /** URL of the facilitator; null if none was asked. */
  readonly by: string | null
}

const VERIFY_MS = 5_000
/** Longest wait for facilitators that ask for a pause. A settlement waits longer, since its work is done. */
const PATIENCE_MS = { verify: 20_000, settle: 30_000 }
/** Pause if a facilitator names none, and the longest pause that this node keeps to. */
const REST_MS = 1_000
const REST_MS_MAX = 30_000
/** Maximum checks at once: a burst of calls must not keep a facilitator so busy that it looks dead. */
const VERIFY_AT_ONCE = 64
/**
 * Maximum checks that wait for their turn: with the running ones a quarter of the default of `rpc.concurrent-max`. Each holds a request
 * open, and costs its sender nothing.
 */
export const CHECKS_WAITING_MAX = 192
const CROWDED: PoolVerdict = {
  verdict: { is: 'unreachable', detail: 'too many payments wait to be checked' },
  by: null,
}
const SETTLE_MS = 30_000
const CHECK_MS = 5_000
/** Pause between two questions about what a facilitator supports: while all are usable, and while one is not. */
const WELL_MS = 30_000
const ILL_MS = 2_000

/** While so many payments wait out a pause, payments of newcomers and repeats may not also wait. */
const RESTING_MAX = 64
/** While so many payments without proof that the payer's own key signed wait out a pause, no further one may. */
const RESTING_UNPROVEN_MAX = 16
/** After a facilitator's pause, a payment waits this much longer for each point of its rank. */
const RANK_MS = 100
/** Order of questions while a facilitator takes few. Newcomers with refused payments come last. */
export const RANKS = { settlement: 0, payer: 1, repeat: 1.5, newcomer: 2 } as const
/** How often errors with the payments of one network of clients count against a facilitator: any client can cause such errors. */
const FAILED_AT = { most: 1, withinMs: 10 * 60_000, namesMax: 1_000 }
/** Texts for callers about a facilitator that said neither yes nor no. */
const KINDS = {
  busy: 'it takes no more questions now',
  unreachable: 'it cannot be reached',
  unknown: 'it gave no answer that can be used',
} as const

interface Member {
  readonly facilitator: Facilitator
  /** A breaker for each kind of work: a facilitator that checks well may be unable to settle. */
  readonly breakers: { readonly checks: Breaker; readonly settlements: Breaker }
  /** Null before the first answer. */
  support: SupportVerdict | null
  detail: string
  /**
   * For the operator: the last error with a payment, and the last error when asked what it supports. Each is null again
   * after a success.
   */
  readonly troubles: { ofPayments: string | null; ofChecks: string | null }
  /** End of the pause that it asked for. Meanwhile it counts as usable. */
  restUntilMs: number
  readonly allowance: Allowance
  /** Networks of clients at whose payments it has failed lately. */
  readonly failedAt: RecentCounts
}

/** Whose payment a facilitator is asked about. */
export interface Asker {
  /** Whether the payer's own key is known to have signed. */
  readonly isProven?: boolean
  /** Address of the client; absent or empty if it is not known. */
  readonly client?: string | undefined
  readonly network?: string
  /** Whether a facilitator was asked before to settle this payment. Then another failure does not count. */
  readonly isRepeat?: boolean
  /** Whether to wait for facilitators that ask for a pause. Repeats in the background do not wait. */
  readonly isPatient?: boolean
  /** One of {@link RANKS}, or more for a newcomer with refused payments. */
  readonly rank?: number
}

interface Question {
  readonly ask: (facilitator: Facilitator) => Promise<FacilitatorVerdict>
  readonly isSettlement: boolean
  readonly asker: Asker
}

/** Several facilitators as one. An authorization can be used once, so a second facilitator cannot charge again. */
export class FacilitatorPool {
  readonly #deps: FacilitatorPoolDependencies
  readonly #members: readonly Member[]
  readonly #checks = new WorkSlots({ atOnce: VERIFY_AT_ONCE })
  readonly #room: WaitingRoom
  #resting = { all: 0, unproven: 0 }
  #cancel: (() => void) | null = null
  #stopped = false

  constructor(dependencies: FacilitatorPoolDependencies) {
    this.#deps = dependencies
    this.#room = new WaitingRoom(dependencies.timers)
    this.#members = dependencies.facilitators.map((facilitator) => ({
      facilitator,
      breakers: { checks: new Breaker(), settlements: new Breaker() },
      support: null,
      detail: 'not asked yet',
      troubles: { ofPayments: null, ofChecks: null },
      restUntilMs: 0,
      allowance: new Allowance(),
      failedAt: new RecentCounts(dependencies.clock, FAILED_AT),
    }))
  }

  get facts(): readonly FacilitatorFacts[] {
    return this.#members.map((member) => ({
      url: member.facilitator.url,
      healthy: this.#isUsable(member),
      detail: member.detail,
      trouble: member.facilitator.words ?? member.troubles.ofPayments ?? member.troubles.ofChecks,
    }))
  }

  get verified(): { readonly ok: boolean; readonly detail: string } {
    const good = this.#members.find(({ support }) => support?.ok)
    return { ok: good !== undefined, detail: good?.detail ?? this.#members.map(({ detail }) => detail).join('; ') }
  }

  get closedBecause(): string | null {
    return this.#members.some((member) => this.#isUsable(member))
      ? null
      : 'no facilitator of the stablecoin rail can be used now'
  }

  /** Whether one of the facilitators asked for a pause in the last five minutes. */
  get isScarce(): boolean {
    const nowMs = this.#deps.clock.now()
    return this.#members.some(({ allowance }) => allowance.isKnown(nowMs))
  }

  /** Asks all facilitators what they support, at once and then regularly. Resolves after the first round. */
  async start(): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#check(member)))
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
    this.#room.wake()
  }

  /** Has a payment checked by the first facilitator that says yes or no. Signatures cost nothing, so places are shared among clients. */
  async verify(request: FacilitatorRequest, asker: Asker = {}): Promise<PoolVerdict> {
    const ask = (one: Facilitator): Promise<FacilitatorVerdict> => one.verify(request, VERIFY_MS)
    const round = async (): Promise<PoolVerdict> => {
      const check = (): Promise<PoolVerdict> => this.#ask(this.#inOrder(null), { ask, isSettlement: false, asker })
      return (await this.#checks.runUnlessFull(check, asker.client ?? '', CHECKS_WAITING_MAX)) ?? CROWDED
    }
    return this.#patiently(PATIENCE_MS.verify, round, asker)
  }

  /**
   * Has a payment settled, by `first` if it can. While a facilitator takes few questions, repeated settlements get only a share of them,
   * since a payer can leave any number of settlements open.
   */
  settle(request: FacilitatorRequest, first: string | null, asker: Asker = {}): Promise<PoolVerdict> {
    const ask = (one: Facilitator): Promise<FacilitatorVerdict> => one.settle(request, SETTLE_MS)
    const ranked = { ...asker, rank: asker.isRepeat === true ? RANKS.repeat : RANKS.settlement }
    const round = (): Promise<PoolVerdict> =>
      this.#ask(this.#inOrder(first), { ask, isSettlement: true, asker: ranked })
    return this.#patiently(asker.isPatient === false ? 0 : PATIENCE_MS.settle, round, ranked)
  }

  /** URL of the facilitator after `url`, in a circle, so that each repeat asks another one. */
  after(url: string | null): string | null {
    const i = this.#members.findIndex(({ facilitator }) => facilitator.url === url)
    return this.#members[(i + 1) % this.#members.length]?.facilitator.url ?? null
  }

  /** Repeats the round while no facilitator answers and one has asked for a pause. */
  async #patiently(
    patienceMs: number,
    round: () => Promise<PoolVerdict>,
    { rank = RANKS.settlement, isProven = true }: Asker,
  ): Promise<PoolVerdict> {
    const untilMs = this.#deps.clock.now() + patienceMs
    const unproven = isProven ? 0 : 1
    for (;;) {
      const said = await round()
      if (said.verdict.is !== 'busy' || this.#stopped) return said
      const waitMs = said.verdict.waitMs + rank * RANK_MS
      const { all } = this.#resting
      const isFull = all >= RESTING_MAX || unproven * this.#resting.unproven >= RESTING_UNPROVEN_MAX
      if (this.#deps.clock.now() + waitMs > untilMs || (rank > RANKS.payer && isFull)) return said
      this.#rest(1, unproven)
      await this.#room.pause(waitMs)
      this.#rest(-1, -unproven)
    }
  }

  #rest(more: 1 | -1, unproven: number): void {
    this.#resting.all += more
    this.#resting.unproven += unproven
  }

  async #ask(members: readonly Member[], question: Question): Promise<PoolVerdict> {
    let busy: PoolVerdict | null = null
    let last: PoolVerdict = {
      verdict: { is: 'unreachable', detail: this.closedBecause ?? 'no facilitator was asked' },
      by: null,
    }
    for (const member of members) {
      const rest = this.#restOf(member) ?? this.#shareOf(member, question)
      const said = rest ?? (await question.ask(member.facilitator))
      if (rest === null) this.#note(member, said, question)
      const verdict = inShort(said)
      last = { verdict, by: member.facilitator.url }
      if (isFinal(verdict, question)) return last
      const resting = rest ?? this.#restOf(member)
      if (resting !== null && waitOf(resting) < waitOf(busy?.verdict)) busy = { verdict: resting, by: last.by }
    }
    return busy ?? last
  }

  #note(member: Member, verdict: FacilitatorVerdict, question: Question): void {
    const nowMs = this.#deps.clock.now()
    const breaker = member.breakers[question.isSettlement ? 'settlements' : 'checks']
    if (verdict.is !== 'busy' && verdict.is !== 'unreachable') member.allowance.answered(nowMs)
    const isRefused = verdict.is === 'refused' && isFinal(verdict, question)
    if (verdict.is === 'good' || isRefused) {
      // A refused settlement of a wrong payment does not show that the facilitator can settle.
      if (verdict.is === 'good' || !question.isSettlement) breaker.succeeded()
      member.troubles.ofPayments = null
      return
    }
    member.troubles.ofPayments = verdict.is === 'refused' ? verdict.reason : verdict.detail
    if (verdict.is !== 'refused') member.detail = KINDS[verdict.is]
    if (verdict.is === 'busy') {
      const waitMs = verdict.waitMs === 0 ? REST_MS : verdict.waitMs
      // Questions that were open together count once.
      if (member.restUntilMs <= nowMs) member.allowance.spent(nowMs, waitMs)
      member.restUntilMs = nowMs + Math.min(REST_MS_MAX, waitMs)
      // Failures of questions that were under way when the breaker opened do not count.
    } else if (!breaker.isOpen(nowMs) && isOwnFailure(member, verdict, question)) breaker.failed(nowMs)
  }

  #restOf({ restUntilMs }: Member): FacilitatorVerdict | null {
    const waitMs = Math.min(REST_MS_MAX, restUntilMs - this.#deps.clock.now())
    return waitMs > 0 ? { is: 'busy', detail: KINDS.busy, waitMs } : null
  }

  /** `busy` if a newcomer or a repeat must not ask yet. A part of the rate is kept for payers that have paid. */
  #shareOf(
    { allowance }: Member,
    { asker: { rank = RANKS.settlement, isProven = true } }: Question,
  ): FacilitatorVerdict | null {
    const nowMs = this.#deps.clock.now()
    if (rank <= RANKS.payer) return null
    const proven: Sharer = isProven ? 'newcomer' : 'unproven'
    const sharer = rank === RANKS.repeat ? 'repeat' : proven
    const waitMs = allowance.waitMs(nowMs, sharer)
    if (waitMs > 0) return { is: 'busy', detail: KINDS.busy, waitMs }
    allowance.asks(nowMs, sharer)
    return null
  }

  #inOrder(first: string | null): readonly Member[] {
    const usable = this.#members.filter((member) => this.#isUsable(member))
    const leads = ({ facilitator }: Member): number => (facilitator.url === first ? 0 : 1)
    return usable.sort((a, b) => leads(a) - leads(b))
  }

  #isUsable({ support, breakers }: Member): boolean {
    const nowMs = this.#deps.clock.now()
    return support?.ok === true && !breakers.checks.isOpen(nowMs) && !breakers.settlements.isOpen(nowMs)
  }

  async #check(member: Member): Promise<void> {
    const said = await member.facilitator.supports(this.#deps.network, CHECK_MS)
    member.detail = said.answered ? said.detail : KINDS[said.isBusy === true ? 'busy' : 'unreachable']
    member.troubles.ofChecks = said.ok ? null : said.detail
    // This answer does not show that the facilitator can check or settle: only payments close its breakers.
    if (said.answered || member.support === null) member.support = said
    else if (said.isBusy !== true) member.breakers.checks.failed(this.#deps.clock.now())
  }

  #schedule(): void {
    if (this.#stopped) return
    const { isOptional = false } = this.#deps
    const isOut = ({ support }: Member): boolean => isOptional && support?.answered === true && !support.ok
    const isWell = this.#members.every((member) => this.#isUsable(member) || isOut(member))
    this.#cancel = this.#deps.timers.after(isWell ? WELL_MS : ILL_MS, () => {
      void Promise.all(this.#members.map((member) => this.#check(member))).then(() => this.#schedule())
    })
  }
}

/**
 * Whether a verdict is final: no other facilitator is asked. If the money may have moved, asking another one at once tells nothing. A
 * refused settlement is final only if the payment is wrong.
 */
function isFinal(verdict: FacilitatorVerdict, { isSettlement }: Question): boolean {
  if (verdict.is === 'refused') return !isSettlement || isOfPayer(verdict.reason)
  return verdict.is === 'good' || (isSettlement && verdict.is === 'unknown')
}

/**
 * Whether a failure counts against the facilitator. It always does if the facilitator was not reached. Any other failure may be the
 * payment's fault, even if the payer has paid before. So such failures count once in ten minutes for each network of clients, and only for
 * payments that the payer's own key has signed and that are not repeated.
 */
function isOwnFailure(
  { failedAt }: Member,
  verdict: Exclude<FacilitatorVerdict, { is: 'good' | 'busy' }>,
  { isSettlement, asker }: Question,
): boolean {
  if (verdict.is === 'unreachable' && verdict.status === undefined) return true
  const { isProven = true, isRepeat = false, client = '', network = client } = asker
  if (!isProven || isRepeat) return false
  if (verdict.is === 'unknown') {
    const { status, transaction } = verdict
    if (isSettlement ? transaction !== null : status !== undefined && isOfPayment(status)) return false
  }
  if (failedAt.count(network) > 0) return false
  failedAt.add(network)
  return true
}

function inShort(verdict: FacilitatorVerdict): FacilitatorVerdict {
  return 'detail' in verdict ? { ...verdict, detail: KINDS[verdict.is] } : verdict
}

function waitOf(verdict: FacilitatorVerdict | undefined): number {
  return verdict?.is === 'busy' ? verdict.waitMs : Number.POSITIVE_INFINITY
}

/** Failures in a row after which a partner is not asked for a while. */
const FAILURES_MAX = 3
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 30_000
/** A failure this long after the last one starts a new row, so that a few over hours do not count together. */
const FORGOTTEN_MS = 120_000

/** Tells whether a partner may be asked. Failures in a row make a pause, and each further one doubles it. */
export class Breaker {
  #failures = 0
  #openUntilMs = 0
  #failedMs = Number.NEGATIVE_INFINITY

  isOpen(nowMs: number): boolean {
    return nowMs < this.#openUntilMs
  }

  succeeded(): void {
    this.#failures = 0
    this.#openUntilMs = 0
  }

  failed(nowMs: number): void {
    if (nowMs - this.#failedMs > FORGOTTEN_MS) this.#failures = 0
    this.#failedMs = nowMs
    this.#failures += 1
    const pauses = this.#failures - FAILURES_MAX
    if (pauses >= 0) this.#openUntilMs = nowMs + Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(pauses, 10))
  }
}
