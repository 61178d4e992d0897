import type { Clock, Timers } from '../../../../consensus/chain/ports.ts'
import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import type { TransferMessage } from '../../../../consensus/external/eip712.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { ClaimsAway } from '../../claim-store.ts'
import type { DollarClaimStore, DollarIn, DollarRefund } from './claim.ts'
import type { AuthorizationState, FacilitatorRequest, StableLedger } from './facilitator.ts'
import type { FacilitatorPool } from './facilitators.ts'
import type { DollarTerms } from './terms.ts'

/** The wallet that refunds come from. Its address is in lower case, its signatures are hex with 0x. */
export interface RefundWallet {
  readonly address: string
  readonly sign: (message: TransferMessage) => string
}

/** What a {@link Refunder} works with. */
export interface RefunderDependencies {
  readonly store: DollarClaimStore
  readonly terms: DollarTerms
  readonly facilitators: FacilitatorPool
  readonly ledger: StableLedger | null
  /** Null without a wallet: the node lists what is owed, and the operator pays it. */
  readonly wallet: RefundWallet | null
  readonly clock: Clock
  readonly timers: Timers
  /** Called for refunds that wait for the operator or were refused. */
  readonly onFault: (fault: Fault) => void
  readonly onError: (error: unknown) => void
}

const VALID_SECONDS = 600
/** Seconds after a refund's authorization runs out for which a block that used it may still appear. */
const LATE_SECONDS = 60
const RETRY_MS_MIN = 5_000
const RETRY_MS_MAX = 600_000
/** Refusals that may mean that the refund's authorization was carried out: only the wallet's key can use its nonce. */
const USED_REASON = /already[ _-]?used|used[ _]or[ _]cancell?ed/i

/**
 * Pays back money that was taken without a delivery, with an authorization of the operator's wallet. Its nonce is a
 * hash of the claim's id, and a token takes a wallet's nonce once. So repeated tries pay once.
 */
export class Refunder {
  readonly #deps: RefunderDependencies
  readonly #owed = new Map<string, { attempts: number; cancel: () => void }>()
  readonly #working = new Set<Promise<void>>()
  #stopped = false

  constructor(dependencies: RefunderDependencies) {
    this.#deps = dependencies
  }

  /** Refunds that are not paid yet. */
  get owedCount(): number {
    return this.#owed.size
  }

  /** Without a wallet the refund is only reported. */
  owe(claim: DollarIn<'owed'>): void {
    if (this.#stopped || claim.refund.status === 'paid' || this.#owed.has(claim.id)) return
    this.#owed.set(claim.id, { attempts: 0, cancel: () => {} })
    const { wallet, onFault } = this.#deps
    if (wallet === null)
      onFault(fault('stable/refund-waits', { id: claim.id, payer: claim.payer, amount: claim.amount }))
    else this.#schedule(claim.id, 0)
  }

  /** Drops all refunds, since other replicas have taken over their claims. */
  forget(): void {
    for (const { cancel } of this.#owed.values()) cancel()
    this.#owed.clear()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.forget()
    await Promise.allSettled(this.#working)
  }

  #schedule(id: string, ms: number): void {
    const one = this.#owed.get(id)
    if (one === undefined || this.#stopped) return
    one.cancel = this.#deps.timers.after(ms, () => {
      const work = this.#pay(id).catch((error: unknown) => {
        if (!(error instanceof ClaimsAway)) this.#deps.onError(error)
        else this.#again(id)
      })
      this.#working.add(work)
      void work.finally(() => this.#working.delete(work))
    })
  }

  #again(id: string): void {
    const one = this.#owed.get(id)
    if (one === undefined) return
    one.attempts += 1
    this.#schedule(id, Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(one.attempts, 10)))
  }

  async #pay(id: string): Promise<void> {
    const { store, facilitators } = this.#deps
    const claim = await store.get(id)
    if (claim?.state !== 'owed' || claim.refund.status === 'paid') return void this.#owed.delete(id)
    const seen = await this.#look(claim)
    if (seen?.is === 'transferred') return this.#paid(claim, seen.transaction)
    if (this.#isOpenElsewhere(claim, seen)) {
      this.#refused(claim, `it was sent from ${claim.refund.from}, and may have been paid`)
      return this.#again(id)
    }
    const sent = await this.#send(claim)
    if (sent === null) return void this.#owed.delete(id)
    const { verdict } = await facilitators.settle(this.#request(sent), null)
    if (verdict.is === 'good') return this.#paid(sent, verdict.transaction)
    if (verdict.is === 'refused' && USED_REASON.test(verdict.reason)) {
      const used = await this.#look(sent)
      // With a node of the chain, only its answer counts: the facilitator may mean a nonce of its own.
      if (used === null) return this.#paid(sent, null)
      if (used.is === 'transferred') return this.#paid(sent, used.transaction)
    }
    if (verdict.is === 'refused') this.#refused(claim, verdict.reason)
    this.#again(id)
  }

  #refused({ payer, amount }: DollarIn<'owed'>, reason: string): void {
    this.#deps.onFault(fault('stable/refund-refused', { payer, amount, reason }))
  }

  /** Stores the authorization before it is sent. An earlier one that holds for a while yet is used again. Null if the claim has changed. */
  async #send(claim: DollarIn<'owed'>): Promise<DollarIn<'owed'> | null> {
    const nowSeconds = Math.floor(this.#deps.clock.now() / 1_000)
    const { validBefore } = claim.refund
    if (claim.refund.status === 'sent' && validBefore !== null && validBefore > nowSeconds + VALID_SECONDS / 2)
      return claim
    const refund: DollarRefund = {
      status: 'sent',
      nonce: nonceOf(claim),
      validBefore: nowSeconds + VALID_SECONDS,
      transaction: null,
      from: (this.#deps.wallet as RefundWallet).address,
    }
    const sent = { ...claim, refund }
    return (await this.#deps.store.advance('owed', sent)) ? sent : null
  }

  async #paid(claim: DollarIn<'owed'>, transaction: string | null): Promise<void> {
    const refund: DollarRefund = { ...claim.refund, status: 'paid', nonce: nonceOf(claim), transaction }
    await this.#deps.store.advance('owed', { ...claim, refund })
    this.#owed.delete(claim.id)
  }

  /** What became of the authorization that was sent before. Null if none was sent, or without a node of the token's chain. */
  #look(claim: DollarIn<'owed'>): Promise<AuthorizationState> | null {
    const { ledger } = this.#deps
    if (ledger === null || claim.refund.status === 'owed') return null
    const { asset, payer, amount, settledAtMs, refund } = claim
    const sinceSeconds = Math.floor(settledAtMs / 1_000)
    const paid = { asset, from: this.#senderOf(claim), to: payer, value: BigInt(amount) }
    // A former wallet may have sent this refund. A node that lags could still show it as unused, and the present wallet would
    // pay a second time. So only a node whose newest block is past `validBefore` may say `unused`.
    const until = refund.validBefore === null ? {} : { untilSeconds: refund.validBefore }
    return ledger.authorization({ ...paid, nonce: nonceOf(claim), sinceSeconds, ...until })
  }

  #senderOf({ refund }: DollarIn<'owed'>): string {
    return refund.from ?? (this.#deps.wallet as RefundWallet).address
  }

  /** Whether a former wallet may have paid the claim, or still may: today's wallet would pay a second time. */
  #isOpenElsewhere(claim: DollarIn<'owed'>, seen: AuthorizationState | null): boolean {
    const { status, validBefore } = claim.refund
    const { wallet, clock } = this.#deps
    if (status !== 'sent' || this.#senderOf(claim) === wallet?.address) return false
    const isOver = clock.now() > ((validBefore ?? 0) + LATE_SECONDS) * 1_000
    return !isOver || (seen?.is !== 'unused' && seen?.is !== 'cancelled')
  }

  #request({ payer, amount, refund }: DollarIn<'owed'>): FacilitatorRequest {
    const { terms, wallet } = this.#deps
    const { from, sign } = { from: (wallet as RefundWallet).address, sign: (wallet as RefundWallet).sign }
    const [nonce, validBefore] = [refund.nonce as string, BigInt(refund.validBefore as number)]
    const signature = sign({ from, to: payer, value: BigInt(amount), validAfter: 0n, validBefore, nonce })
    const paymentRequirements = {
      ...{ scheme: 'exact', network: terms.network.caip2, amount, asset: terms.asset.contract, payTo: payer },
      maxTimeoutSeconds: terms.maxTimeoutSeconds,
      extra: terms.asset.domain,
    }
    const times = { validAfter: '0', validBefore: validBefore.toString() }
    const payload = { signature, authorization: { from, to: payer, value: amount, ...times, nonce } }
    const paymentPayload = { x402Version: 2, accepted: paymentRequirements, payload }
    return { x402Version: 2, paymentPayload, paymentRequirements }
  }
}

/** In hex with 0x. */
function nonceOf({ id }: DollarIn<'owed'>): string {
  return `0x${taggedHashHex('stableRefund', encodeText(id))}`
}
