import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import { type Fields, fieldsOf } from '../../../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import { isUint } from '../evm-values.ts'
import type { FacilitatorRequest, FacilitatorVerdict } from '../facilitator.ts'
import { isOfPayment } from '../facilitator.ts'
import { type Asker, type FacilitatorPool, RANKS } from '../facilitators.ts'
import { turnedAwayBy } from '../verification.ts'
import type { AuthorizerKey, ChainOutcome, ChannelChain, ChannelMove, RefundOrder } from './chain.ts'
import type { ChannelConfig, ChannelPayment, ChannelPaymentOf, ChannelState, ClaimRow } from './channel.ts'
import { claimDigest, refundDigest } from './digests.ts'
import { type ChannelTerms, channelOffer } from './terms.ts'
import { claimJson, paymentJson, readChannelState } from './wire.ts'
import { channelFault } from './words.ts'

/** What a {@link FacilitatorChain} works with. */
export interface FacilitatorChainDependencies {
  /** Facilitators of scheme `batch-settlement`. */
  readonly facilitators: Pick<FacilitatorPool, 'verify' | 'settle'>
  readonly terms: ChannelTerms
  readonly sign: AuthorizerKey
}

type Good = Extract<FacilitatorVerdict, { readonly is: 'good' }>

/**
 * The chain side of channels through facilitators. Each transaction can be tried by several: a deposit's authorization and a refund's nonce
 * count once, and a claim that is booked is passed over.
 */
export class FacilitatorChain implements ChannelChain {
  readonly #deps: FacilitatorChainDependencies

  constructor(dependencies: FacilitatorChainDependencies) {
    this.#deps = dependencies
  }

  async verify(payment: ChannelPayment, amount: bigint, asker: Asker = {}): Promise<Result<ChannelState>> {
    const request = this.#request(paymentJson(payment), amount, payment.config)
    const { verdict } = await this.#deps.facilitators.verify(request, asker)
    if (verdict.is !== 'good') return fail(refusal(verdict, payment))
    const state = readChannelState(verdict.extra ?? {})
    return state === null ? fail(fault('channel/unverified', { channelId: payment.voucher.channelId })) : ok(state)
  }

  /** As a refund, a voucher is also good if all of it is claimed. Facilitators do nothing when they only check. */
  state(
    { config, voucher, accepted }: ChannelPayment,
    asker: Asker = { rank: RANKS.payer },
  ): Promise<Result<ChannelState>> {
    return this.verify({ kind: 'refund', amount: null, config, voucher, accepted }, 0n, asker)
  }

  async deposit(
    payment: ChannelPaymentOf<'deposit'>,
    amount: bigint,
    asker: Asker = {},
  ): Promise<ChainOutcome<ChannelMove>> {
    const { verdict } = await this.#deps.facilitators.settle(this.#request(paymentJson(payment), amount), null, asker)
    if (verdict.is !== 'good') return notDone(verdict, payment)
    return moved(verdict, payment.deposit.amount)
  }

  async claim(rows: readonly ClaimRow[]): Promise<ChainOutcome<object>> {
    const verdict = await this.#settle({ type: 'claim', ...this.#signedClaims(rows) })
    return verdict.is === 'good' ? done(verdict, {}) : notDone(verdict)
  }

  async settle(): Promise<ChainOutcome<{ readonly amount: bigint | null }>> {
    const { payTo, asset } = this.#deps.terms
    const verdict = await this.#settle({ type: 'settle', receiver: payTo, token: asset.contract })
    return verdict.is === 'good' ? done(verdict, { amount: amountOf(verdict) }) : notDone(verdict)
  }

  async refund({ payment, amount, refundNonce, claims }: RefundOrder): Promise<ChainOutcome<ChannelMove>> {
    const { terms, sign } = this.#deps
    const { channelId } = payment.voucher
    const refundAuthorizerSignature = sign(
      refundDigest(terms.network.chainId, { channelId, nonce: refundNonce, amount }),
    )
    const verdict = await this.#settle({
      ...paymentJson({ ...payment, amount }),
      refundNonce: refundNonce.toString(),
      refundAuthorizerSignature,
      ...(claims.length === 0 ? { claims: [] } : this.#signedClaims(claims)),
    })
    return verdict.is === 'good' ? moved(verdict, amount) : notDone(verdict, payment)
  }

  #signedClaims(rows: readonly ClaimRow[]): Fields {
    const { terms, sign } = this.#deps
    return { claims: rows.map(claimJson), claimAuthorizerSignature: sign(claimDigest(terms.network.chainId, rows)) }
  }

  async #settle(payload: Fields): Promise<FacilitatorVerdict> {
    return (await this.#deps.facilitators.settle(this.#request(payload, 0n), null)).verdict
  }

  /**
   * Facilitators get this node's offer in place of the client's copy. They compare it with the channel, which can be older than the settings
   * of the operator.
   */
  #request(payload: Fields, amount: bigint, config: ChannelConfig | null = null): FacilitatorRequest {
    const { terms } = this.#deps
    const paymentRequirements = channelOffer(config === null ? terms : termsOf(terms, config), amount)
    return {
      x402Version: 2,
      paymentPayload: { x402Version: 2, accepted: paymentRequirements, payload },
      paymentRequirements,
    }
  }
}

/** A facilitator that names no readable state has still moved the money, so the outcome is for the chain to tell. */
function moved(verdict: Good, asked: bigint): ChainOutcome<ChannelMove> {
  const state = readChannelState(fieldsOf(verdict.extra?.channelState))
  if (state === null)
    return { is: 'unknown', detail: 'it named no state of the channel', transaction: verdict.transaction }
  return done(verdict, { amount: amountOf(verdict) ?? asked, state })
}

/** The terms that an offer had when this channel was made. */
function termsOf(terms: ChannelTerms, { receiver, withdrawDelay }: ChannelConfig): ChannelTerms {
  return receiver === terms.payTo.toLowerCase()
    ? { ...terms, withdrawDelay }
    : { ...terms, withdrawDelay, payTo: receiver }
}

function done<T extends object>({ transaction }: Good, result: T): ChainOutcome<T> {
  return { is: 'done', transaction: transaction ?? '', ...result }
}

function notDone(
  verdict: Exclude<FacilitatorVerdict, Good>,
  payment: ChannelPayment | null = null,
): ChainOutcome<never> {
  if (verdict.is === 'unknown' && !(verdict.status !== undefined && isOfPayment(verdict.status)))
    return { is: 'unknown', detail: verdict.detail, transaction: verdict.transaction }
  return { is: 'undone', cause: refusal(verdict, payment) }
}

function refusal(verdict: Exclude<FacilitatorVerdict, Good>, payment: ChannelPayment | null): Fault {
  return verdict.is === 'refused' ? channelFault(verdict.reason, payment) : turnedAwayBy(verdict)
}

function amountOf({ amount }: Good): bigint | null {
  return isUint(amount, 128) ? BigInt(amount) : null
}
