import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import type { DollarIn } from './claim.ts'
import { ContractPayers, contractName, unproven } from './contract-payers.ts'
import { type FacilitatorVerdict, isOfPayment, reasonInShort, type StableLedger } from './facilitator.ts'
import { type Asker, type FacilitatorPool, type PoolVerdict, RANKS } from './facilitators.ts'
import { type Leave, Newcomers } from './newcomers.ts'
import { facilitatorRequest, type Seller } from './requirements.ts'

/** What a {@link Verification} works with. */
export interface VerificationDependencies {
  readonly facilitators: FacilitatorPool
  /** The token's chain; null without a node to ask. */
  readonly ledger: StableLedger | null
  readonly seller: Seller
  readonly clock: Clock
  readonly paidOf: (payer: string) => number
}

/** The answer is in an object, so that `await` on the question does not wait for it. */
export interface Asked {
  readonly verdict: Promise<PoolVerdict>
  /** Call it if the payment was good, but could not be used through the payer's fault. */
  readonly wasted: () => void
}

/** Asks facilitators about payments, within the limits of each client. */
export class Verification {
  readonly #deps: VerificationDependencies
  readonly #contracts: ContractPayers
  /** Limits for payments that the payer's own key has signed. Payments with any other signature count under `#foreign`. */
  readonly #newcomers: Newcomers
  readonly #foreign: Newcomers

  constructor(dependencies: VerificationDependencies) {
    this.#deps = dependencies
    const { clock, ledger, facilitators, seller, paidOf } = dependencies
    this.#contracts = new ContractPayers({ clock, ledger })
    const isScarce = (): boolean => facilitators.isScarce
    const shared = { clock, ledger, asset: seller.terms.asset.contract, isScarce }
    this.#newcomers = new Newcomers({ ...shared, paidOf })
    const paidOfContract = (name: string): number => this.#contracts.paidOf(name)
    this.#foreign = new Newcomers({ ...shared, paidOf: paidOfContract, tooMany: unproven })
  }

  /** `foreign` is a signature that is not by the payer's own key. */
  async ask(claim: DollarIn<'claimed'>, client: Holder, foreign: string | null): Promise<Result<Asked>> {
    const { payer, amount } = claim
    const payment = { payer, client, amount: BigInt(amount) }
    if (foreign === null) {
      const leave = await this.#newcomers.leave(payment)
      return leave.ok ? ok(this.#ask(claim, leave.value, askerOf(client))) : leave
    }
    const named = { payer, signature: foreign, client }
    const refused = await this.#contracts.refusal(named)
    if (refused !== null) return fail(refused)
    const leave = await this.#foreign.leave({ ...payment, name: contractName(named) })
    if (!leave.ok) return leave
    if (leave.value.rank >= RANKS.newcomer) this.#contracts.asked()
    return ok(this.#ask(claim, leave.value, { isProven: false, ...askerOf(client) }))
  }

  paid({ payer }: DollarIn<'claimed'>, client: Holder, foreign: string | null): void {
    this.#newcomers.paid(client)
    this.#foreign.paid(client)
    if (foreign !== null) this.#contracts.paid({ payer, signature: foreign, client })
  }

  #ask(claim: DollarIn<'claimed'>, { rank, done, wasted }: Leave, asker: Asker): Asked {
    const { facilitators, seller } = this.#deps
    // A check uses up nothing, even if another call has claimed the payment. So it need not wait for the claim.
    const verdict = facilitators.verify(facilitatorRequest(seller, claim), { ...asker, rank }).then((said) => {
      done(said.verdict)
      return said
    })
    return { verdict, wasted }
  }
}

/** The members of {@link Asker} that name a client. */
export function askerOf({ address, network }: Holder): { readonly client: string; readonly network: string } {
  return { client: address, network }
}

/** The fault for a payment that facilitators did not find good. */
export function turnedAwayBy(verdict: Exclude<FacilitatorVerdict, { is: 'good' }>): Fault {
  if (verdict.is === 'unknown' && verdict.status !== undefined && isOfPayment(verdict.status))
    return fault('stable/refused', { reason: 'invalid_payload' })
  return verdict.is === 'refused'
    ? fault('stable/refused', { reason: reasonInShort(verdict.reason) })
    : fault('stable/facilitator', { detail: verdict.detail })
}
