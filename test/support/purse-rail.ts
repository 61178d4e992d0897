import { type Fault, type FaultDetail, fault } from '../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { requestHash } from '../../consensus/tx/request-hash.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import { type ClaimKind, runsOf, type StoredClaim } from '../../marketplace/till/claim-store.ts'
import type {
  Ended,
  Gate,
  Held,
  Identity,
  Order,
  Rail,
  Settled,
  Steps,
  TillCall,
  Verdict,
} from '../../marketplace/till/rail.ts'
import { RUNS_MAX } from '../../marketplace/till/settings.ts'
import { Till, type TillDependencies } from '../../marketplace/till/till.ts'

/** Prepaid money without a chain. Each entry buys one call. */
export class Purse {
  readonly entries = new Map<string, 'open' | 'ours' | 'returned'>()

  /** Ends an entry once, as earned or as returned. Later calls change nothing. */
  end(id: string, as: 'ours' | 'returned'): void {
    if (this.entries.get(id) === 'open') this.entries.set(id, as)
  }
}

/** A call that is paid from a purse. */
export interface PurseCall extends TillCall {
  readonly entry: string
}

/** A claim of the purse rail. */
export interface PurseClaim extends StoredClaim {
  readonly state: 'claimed' | 'executing' | 'worked' | 'ours' | 'refused' | 'returned'
  readonly id: string
  readonly requestHash: Hash
  readonly cause?: { readonly code: FaultCode; readonly detail: FaultDetail }
}

/** Claims of the purse rail, as stores know them. */
export const PURSE_CLAIMS: ClaimKind<PurseClaim> = {
  name: 'purse',
  idOf: ({ id }) => id,
  isOpen: ({ state }) => state !== 'ours' && state !== 'returned',
  paidFor: () => ({ payer: 'purse', priceUsdMicros: 1n, isDelivered: false }),
}

/** A minimal third rail for tests. Calls are prepaid and settled without a transaction. */
export class PurseRail implements Rail<PurseCall, PurseClaim, Identity> {
  readonly kind = PURSE_CLAIMS
  readonly joinMs = null
  readonly beginsPatiently = true
  readonly till: Till<PurseCall, PurseClaim, Identity>
  readonly #deps: TillDependencies<PurseClaim>
  readonly #purse: Purse

  constructor(dependencies: TillDependencies<PurseClaim>, purse: Purse) {
    this.#deps = dependencies
    this.#purse = purse
    this.till = new Till(dependencies, this)
  }

  identify = ({ entry }: PurseCall): Identity => ({ id: entry })
  underWay = (): Fault => fault('stable/under-way')
  goesOn = this.underWay

  judge({ call, offer, asked }: Order<PurseCall, Identity>, known: PurseClaim | undefined): Verdict<PurseClaim> {
    const { serviceId } = offer.definition
    if (known !== undefined) return this.#known(known, call)
    if (!asked.input.ok) return told(asked.input)
    if (this.#purse.entries.get(call.entry) !== 'open') return told(fail(fault('pay/not-found', { txId: call.entry })))
    const bound = { serviceId, requestHash: requestHash(serviceId, call.request), request: call.request }
    return { is: 'take', claim: { ...bound, id: call.entry, state: 'claimed', claimedAtMs: this.#deps.clock.now() } }
  }

  #known(known: PurseClaim, call: PurseCall): Verdict<PurseClaim> {
    const why = this.mayJoin({ claim: known }, { call }) ?? known.cause
    if (why !== undefined) return told(fail(fault(why.code, why.detail)))
    if (known.state === 'ours') return told(ok({ claim: known, replayed: true }))
    const hasMoved = (now: PurseClaim | undefined): boolean => now?.state !== known.state
    return { is: 'elsewhere', waitMs: this.#deps.settings.settleWaitMs, hasMoved, why: this.underWay }
  }

  mayJoin(
    { claim }: Pick<Held<PurseClaim, Identity>, 'claim'>,
    { call }: Pick<Order<PurseCall, Identity>, 'call'>,
  ): Fault | null {
    const isSame = claim.requestHash === requestHash(claim.serviceId, call.request)
    return isSame ? null : fault('stable/used')
  }

  answer(_: Order<PurseCall, Identity>, ended: Result<PurseClaim>, replayed: boolean): Result<Settled<PurseClaim>> {
    return ended.ok ? ok({ claim: ended.value, replayed }) : ended
  }

  async carry(_: PurseClaim, steps: Steps<PurseClaim>): Promise<Ended<PurseClaim>> {
    if (!(await steps.claim())) return null
    const worked = await steps.work()
    return worked?.ok === true ? this.#end(worked.value) : worked
  }

  mayBegin(claim: PurseClaim): Gate<PurseClaim> {
    if (this.till.isStopped) return { is: 'later', ms: null }
    return { is: 'open', begun: { ...claim, state: 'executing', runs: runsOf(claim) } }
  }

  worked(): void {}
  async end(claim: PurseClaim, outcome: Result<string>): Promise<Ended<PurseClaim>> {
    if (outcome.ok) {
      const nowMs = this.#deps.clock.now()
      const worked = { ...claim, state: 'worked', result: outcome.value, finishedAtMs: nowMs } as const
      return (await this.till.advance(claim.state, worked)) ? ok(worked) : null
    }
    const { code, detail } = outcome.fault
    const refused = { ...claim, state: 'refused', cause: { code, detail } } as const
    return (await this.till.advance(claim.state, refused)) ? this.#end(refused) : null
  }

  takeUp(claim: PurseClaim, isInHand: boolean): boolean {
    if (isInHand || claim.state === 'claimed' || claim.state === 'executing') return !isInHand
    this.#end(claim).catch((error: unknown) => this.till.tellError(error))
    return false
  }

  whyNotResumed(claim: PurseClaim, { serviceId, repeatable }: ServiceDefinition): Fault | null {
    const mayRun = claim.state === 'claimed' || (repeatable && runsOf(claim) <= RUNS_MAX)
    return mayRun ? null : fault('service/interrupted', { serviceId })
  }

  forget(): void {}
  async stop(): Promise<void> {}
  async handedOver(): Promise<void> {}

  /** The purse is written before the claim. After a crash between these two writes, the same entry ends the same way again. */
  async #end(claim: PurseClaim): Promise<Ended<PurseClaim>> {
    const as = claim.state === 'worked' ? 'ours' : 'returned'
    this.#purse.end(claim.id, as)
    const ended = { ...claim, state: as } as const
    if (!(await this.till.advance(claim.state, ended))) return null
    return ended.cause === undefined ? ok(ended) : fail(fault(ended.cause.code, ended.cause.detail))
  }
}

const told = (outcome: Result<Settled<PurseClaim>>): Verdict<PurseClaim> => ({ is: 'told', outcome })
