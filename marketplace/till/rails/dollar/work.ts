import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { NO_CLIENT } from '../../failing-callers.ts'
import { RUNS_MAX } from '../../settings.ts'
import type { Shop } from '../../shop.ts'
import { advanceSteadily } from '../../steady-advance.ts'
import type { Workshop } from '../../workshop.ts'
import { runsOf } from '../native/claim.ts'
import { holdsLongEnough } from './checks.ts'
import type { StableClaim, StableClaimStore, StableIn } from './claim.ts'
import { ContractPayers, contractName, unproven } from './contract-payers.ts'
import { type FacilitatorVerdict, isOfPayer, isOfPayment, reasonInShort, type StableLedger } from './facilitator.ts'
import { type Asker, type FacilitatorPool, type PoolVerdict, RANKS } from './facilitators.ts'
import { type Leave, Newcomers } from './newcomers.ts'
import type { Payers } from './payers.ts'
import { facilitatorRequest, type Seller } from './requirements.ts'
import type { Resolver } from './resolver.ts'
import type { Attempt, Settlement } from './settlement.ts'
import { asBefore, causeOf, executing, settling, unpaid } from './transitions.ts'

/** What work is done with. */
export interface StableWorkDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly store: StableClaimStore
  readonly workshop: Workshop
  readonly facilitators: FacilitatorPool
  readonly settlement: Settlement
  readonly resolver: Resolver
  readonly payers: Payers
  /** The token's chain; null where there is no node to ask. */
  readonly ledger: StableLedger | null
  readonly seller: Seller
  readonly clock: Clock
  readonly pause: (ms: number) => Promise<void>
  /** Whether the node stops: nothing new begins; and whether its store may be closed: nothing is written any more. */
  readonly isStopped: () => boolean
  readonly isAbandoned: () => boolean
  /** Hears of each claim that has come to an end or to a turn. */
  readonly onStep: (claim: StableIn<'settled' | 'unpaid' | 'owed'>) => void
}

/** What a claim is worked on with. */
export interface StableTask {
  readonly definition: ServiceDefinition
  readonly input: unknown
  /** The claim as it was before it was taken once more; null for a new one. */
  readonly previous: StableIn<'unpaid'> | null
  /** Who sent the call, as the doors tell callers apart; those without a name count as one. */
  readonly client: Holder
}

/** A question that facilitators were asked; in an object, so that its answer is not waited for with it. */
interface Asked {
  readonly verdict: Promise<PoolVerdict>
  /** Hears that the payment was good and could not be used by its own fault. */
  readonly wasted: () => void
}

/** What came of work; null where the claim is somebody else's by now, and the store tells. */
export type Ended = Result<StableIn<'settled'>> | null

const POLL_MS = 100

/** Nothing is known of the money yet; the same call tells later. */
export const UNSETTLED: Fault = fault('stable/unsettled')

/** Takes one claim from its first write to the money: verify, execute, settle, each written down before the next. */
export class StableWork {
  readonly #deps: StableWorkDependencies
  readonly #contracts: ContractPayers
  /** Of payments that the payer's own key has signed, and of any other: what is made up takes no leave from what is signed. */
  readonly #newcomers: Newcomers
  readonly #foreign: Newcomers

  constructor(dependencies: StableWorkDependencies) {
    this.#deps = dependencies
    const { clock, ledger, facilitators, payers, seller } = dependencies
    this.#contracts = new ContractPayers({ clock, ledger })
    const isScarce = (): boolean => facilitators.isScarce
    const shared = { clock, ledger, asset: seller.terms.asset.contract, isScarce }
    this.#newcomers = new Newcomers({ ...shared, paidOf: (payer) => payers.paidOf(payer) })
    const paidOf = (name: string): number => this.#contracts.paidOf(name)
    this.#foreign = new Newcomers({ ...shared, paidOf, tooMany: unproven })
  }

  /** Claims a payment, and does everything that it pays for; `foreign` is its signature where it is not of the payer's own key. */
  async begin(claim: StableIn<'claimed'>, task: StableTask, foreign: string | null): Promise<Ended> {
    const { store, payers } = this.#deps
    const { payer } = claim
    const { client } = task
    const asked =
      foreign === null ? await this.#askOfKey(claim, client) : await this.#askOfContract(claim, client, foreign)
    if (!asked.ok) return asked
    const isOurs = task.previous === null ? (await store.claim(claim)) === null : await store.advance('unpaid', claim)
    if (!isOurs) return null
    if (task.previous !== null) this.#deps.resolver.drop(claim.id)
    const { verdict, by } = await asked.value.verdict
    if (verdict.is !== 'good') return this.#turnAway(claim, turnedAwayBy(verdict))
    const ended = await payers.inTurn({ payer, client }, () => this.#earn(claim, task, by))
    if (ended?.ok === false && isRefusedOfPayer(ended.fault)) asked.value.wasted()
    if (ended?.ok !== true) return ended
    payers.paid(client)
    this.#newcomers.paid(client)
    this.#foreign.paid(client)
    if (foreign !== null) this.#contracts.paid({ payer, signature: foreign, client })
    return ended
  }

  /** Has a payment checked that the payer's own key has signed, as soon as its client may have one checked. */
  async #askOfKey(claim: StableIn<'claimed'>, client: Holder): Promise<Result<Asked>> {
    const { payer, amount } = claim
    const leave = await this.#newcomers.leave({ payer, client, amount: BigInt(amount) })
    return leave.ok ? ok(this.#ask(claim, leave.value, askerOf(client))) : leave
  }

  /** Has a payment checked that a contract may have signed. */
  async #askOfContract(claim: StableIn<'claimed'>, client: Holder, signature: string): Promise<Result<Asked>> {
    const { payer, amount } = claim
    const payment = { payer, signature, client }
    const refused = await this.#contracts.refusal(payment)
    if (refused !== null) return fail(refused)
    const leave = await this.#foreign.leave({ payer, name: contractName(payment), client, amount: BigInt(amount) })
    if (!leave.ok) return leave
    if (leave.value.rank >= RANKS.newcomer) this.#contracts.asked()
    return ok(this.#ask(claim, leave.value, { isProven: false, ...askerOf(client) }))
  }

  #ask(claim: StableIn<'claimed'>, { rank, done, wasted }: Leave, asker: Asker): Asked {
    const { facilitators, seller } = this.#deps
    // A question uses nothing of a payment, also where another call turns out to have claimed it: nothing is waited for to ask it.
    const verdict = facilitators.verify(facilitatorRequest(seller, claim), { ...asker, rank }).then((said) => {
      done(said.verdict)
      return said
    })
    return { verdict, wasted }
  }

  async #earn(claim: StableIn<'claimed'>, task: StableTask, by: string | null): Promise<Ended> {
    const { payers, workshop } = this.#deps
    const { client } = task
    const worked = await workshop.inPlace(task.definition, () => this.#work(claim, task), {
      payer: claim.payer,
      client,
    })
    if (worked?.ok !== true) return worked
    const ended = await this.collect(worked.value, { first: by, isFirst: true, ...askerOf(client) })
    if (ended?.ok === false) payers.worked(claim.id, client, ended.fault)
    return ended
  }

  /** Takes up a claim whose work was interrupted, where it may be done again. */
  async redo(
    claim: StableIn<'executing'>,
    { definition, input }: Pick<StableTask, 'definition' | 'input'>,
  ): Promise<Ended> {
    const { clock, shop, workshop } = this.#deps
    const { serviceId, timeoutMs } = definition
    if (!holdsLongEnough(claim.validBefore, clock.now(), timeoutMs))
      return this.giveUp(claim, fault('service/too-late', { serviceId }))
    if (shop.closedBecause !== null || runsOf(claim) > RUNS_MAX)
      return this.giveUp(claim, fault('service/interrupted', { serviceId }))
    const task = { definition, input, previous: null, client: NO_CLIENT }
    const caller = { payer: claim.payer, client: NO_CLIENT }
    const worked = await workshop.inPlace(definition, () => this.#execute(claim, task), caller)
    return worked === null || !worked.ok ? worked : this.collect(worked.value, { first: null, isFirst: true })
  }

  /** Ends a claim without money. */
  async giveUp(claim: StableIn<'executing'>, cause: Fault): Promise<Ended> {
    const failed = { ...claim, failedRuns: (claim.failedRuns ?? 0) + 1 }
    const ended = unpaid(failed, cause, { nowMs: this.#deps.clock.now(), over: false })
    if (!(await this.#advance('executing', ended))) return null
    this.#deps.resolver.take(ended, null)
    return fail(cause)
  }

  /** Lets go of a claim that a crash has left: nothing came of it but a check, which does no harm twice. */
  async letGo(claim: StableIn<'claimed'>): Promise<Ended> {
    const before = await this.#giveBack(claim)
    if (before !== null) this.#deps.resolver.takeUp(before)
    return null
  }

  /** Has the money of a finished claim moved; what cannot be known now is found out in the background. */
  async collect(claim: StableIn<'settling'>, attempt: Attempt): Promise<Ended> {
    const { settlement, resolver, onStep, isAbandoned } = this.#deps
    const step = await settlement.attempt(claim, attempt)
    if (isAbandoned()) return fail(UNSETTLED)
    if (step === 'open') {
      resolver.take(claim, attempt.first)
      return fail(UNSETTLED)
    }
    if (!(await this.#advance('settling', step))) return null
    onStep(step)
    if (step.state === 'settled') return ok(step)
    if (step.state === 'owed') return null
    if (!step.over) resolver.take(step, null)
    return fail(causeOf(step))
  }

  /** The same once more, after a facilitator has refused it. */
  collectAgain(claim: StableIn<'settling'>, client: Holder): Promise<Ended> {
    return this.collect(claim, { first: null, isFirst: true, isRepeat: true, ...askerOf(client) })
  }

  async #work(claim: StableIn<'claimed'>, task: StableTask): Promise<Result<StableIn<'settling'>> | null> {
    const { chain, shop, clock, payers, pause, isStopped } = this.#deps
    const { serviceId, timeoutMs } = task.definition
    // A passing head is no ground to work on.
    while (chain.moving && !isStopped()) await pause(POLL_MS)
    const reason = isStopped() ? 'the node is stopping' : shop.closedBecause
    if (reason !== null) return this.#turnAway(claim, fault('service/unavailable', { serviceId, reason }))
    // It may have waited for its turn.
    if (!holdsLongEnough(claim.validBefore, clock.now(), timeoutMs)) {
      const late = 'invalid_exact_evm_payload_authorization_valid_before'
      return this.#turnAway(claim, fault('stable/refused', { reason: late }))
    }
    const refused = payers.refusal({ payer: claim.payer, client: task.client }, task.definition)
    return refused === null ? this.#execute(claim, task) : this.#turnAway(claim, refused)
  }

  async #execute(
    claim: StableIn<'claimed' | 'executing'>,
    { definition, input, client }: StableTask,
  ): Promise<Result<StableIn<'settling'>> | null> {
    const { shop, store, workshop, clock, payers } = this.#deps
    const begun = executing(claim, clock.now())
    if (!(await store.advance(claim.state, begun))) return null
    const outcome = await workshop.run(definition, input, shop.context)
    if (!outcome.ok) {
      payers.failed({ payer: claim.payer, client }, definition, outcome.fault)
      const ended = await this.giveUp(begun, outcome.fault)
      return ended === null || ended.ok ? null : ended
    }
    const done = settling(begun, outcome.value, clock.now())
    return (await this.#advance('executing', done)) ? ok(done) : null
  }

  async #turnAway(claim: StableIn<'claimed'>, cause: Fault): Promise<Result<never>> {
    const before = this.#deps.isAbandoned() ? null : await this.#giveBack(claim)
    if (before !== null) this.#deps.resolver.suspect(before)
    return fail(cause)
  }

  /**
   * Gives a payment back that was not used, so that it can be offered again. One that had come to nothing before is so again, and
   * to be watched: its authorization may have been used meanwhile.
   */
  async #giveBack(claim: StableIn<'claimed'>): Promise<StableIn<'unpaid'> | null> {
    const { store } = this.#deps
    const before = asBefore(claim)
    if (before !== null) return (await store.advance('claimed', before)) ? before : null
    await store.release('claimed', claim.id)
    return null
  }

  async #advance(from: StableClaim['state'], next: StableClaim): Promise<boolean> {
    const { store, clock, pause, isAbandoned } = this.#deps
    // The store may be closed by now: the claim stays as it is in it, and is taken up at the next start.
    if (isAbandoned()) return false
    return advanceSteadily(store, { id: next.id, from, next }, { clock, pause, isOver: isAbandoned })
  }
}

/** A sender, as facilitators' failures are counted by. */
function askerOf({ address, network }: Holder): { readonly client: string; readonly network: string } {
  return { client: address, network }
}

/** Whether a call came to nothing by what the payer has signed or holds. */
function isRefusedOfPayer({ code, detail }: Fault): boolean {
  return code === 'stable/refused' && isOfPayer(String(detail.reason))
}

function turnedAwayBy(verdict: Exclude<FacilitatorVerdict, { is: 'good' }>): Fault {
  if (verdict.is === 'unknown' && verdict.status !== undefined && isOfPayment(verdict.status))
    return fault('stable/refused', { reason: 'invalid_payload' })
  return verdict.is === 'refused'
    ? fault('stable/refused', { reason: reasonInShort(verdict.reason) })
    : fault('stable/facilitator', { detail: verdict.detail })
}
