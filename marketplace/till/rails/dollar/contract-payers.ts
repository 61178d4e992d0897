import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { TokenBucket } from '../../../chat/models/token-bucket.ts'
import { ClientCounts, RecentCounts } from '../../client-counts.ts'
import type { StableLedger } from './facilitator.ts'

/** What {@link ContractPayers} works with. */
export interface ContractPayersDependencies {
  readonly clock: Clock
  /** Null without a node of the token's chain: then every payer may be a contract. */
  readonly ledger: StableLedger | null
}

/** A payment whose signature is not of the payer's own key. */
export interface ForeignPayment {
  readonly payer: string
  readonly signature: string
  /** Any caller can name any payer, so each client is counted by itself. */
  readonly client: Holder
}

/**
 * Maximum questions within a minute about signatures that are not of the payer's own key. To facilitators: `ofPayer` about one payer that
 * one client named, `ofAll` about all payers that have not paid lately. To the token's chain: `ofCode`, whether a payer is a contract.
 */
export const CONTRACT_QUESTIONS = { ofPayer: 10, ofAll: 300, ofCode: 600 } as const
const OF_PAYER = { most: CONTRACT_QUESTIONS.ofPayer, withinMs: 60_000, namesMax: 10_000 }
/** After so many payments within a minute, a client leaves a part of the questions to other clients. */
const OF_CLIENT = { most: 10, withinMs: 60_000, namesMax: 10_000 }
const PAID = { most: 64, withinMs: 10 * 60_000, namesMax: 10_000 }
/** How long an answer holds. A wallet can be deployed at any time, and hardly ever goes away again. */
const KEPT_MS = { contract: 600_000, none: 60_000 }
const KEPT_MAX = 10_000
/** End of the signature of a wallet that is not deployed yet (ERC-6492). */
const UNDEPLOYED = '6492'.repeat(16)

type Code = keyof typeof KEPT_MS

/**
 * Judges signatures that are not of the payer's own key. One may be a contract's, which only a facilitator can check, or made up, which
 * costs nothing: made-up payments must not take the facilitators' time from payers that sign with a key.
 */
export class ContractPayers {
  readonly #deps: ContractPayersDependencies
  readonly #ofPayer: RecentCounts
  readonly #ofClient: ClientCounts
  readonly #paid: RecentCounts
  readonly #ofAll: TokenBucket
  readonly #codeQuestions: TokenBucket
  readonly #known = new Map<string, { readonly code: Code; readonly untilMs: number }>()

  constructor(dependencies: ContractPayersDependencies) {
    this.#deps = dependencies
    const { clock } = dependencies
    this.#ofPayer = new RecentCounts(clock, OF_PAYER)
    this.#ofClient = new ClientCounts(clock, OF_CLIENT)
    this.#paid = new RecentCounts(clock, PAID)
    this.#ofAll = new TokenBucket(CONTRACT_QUESTIONS.ofAll, clock.now())
    this.#codeQuestions = new TokenBucket(CONTRACT_QUESTIONS.ofCode, clock.now())
  }

  /**
   * Why no facilitator is asked about a signature that is not of the payer's own key, or null. With null the question counts for the payer.
   * Faults: `stable/refused` if no contract can have made the signature, `stable/unproven` after too many questions.
   */
  async refusal(payment: ForeignPayment): Promise<Fault | null> {
    const { payer, signature, client } = payment
    const isMany = this.#ofClient.waitMs(client, OF_CLIENT.most) > 0
    this.#ofClient.add(client)
    const full = this.#full(payment, isMany)
    if (full !== null) return full
    // A wallet that is not deployed has no code yet.
    const code = signature.endsWith(UNDEPLOYED) ? null : await this.#codeOf(payer, isMany)
    if (code === 'none') return fault('stable/refused', { reason: 'invalid_exact_evm_signature' })
    if (code === 'unasked') return unproven(this.#codeQuestions.waitMs(1, this.#now(), isMany))
    // Other payments may have been let through meanwhile.
    const late = this.#full(payment, isMany)
    if (late !== null) return late
    this.#ofPayer.add(contractName(payment))
    return null
  }

  /** Notes that a facilitator is asked about a payer that has not paid lately. */
  asked(): void {
    this.#ofAll.take(1, this.#now())
  }

  paid(payment: ForeignPayment): void {
    this.#paid.add(contractName(payment))
  }

  /** How often a payer has paid lately through one client. `name` is that of {@link contractName}. */
  paidOf(name: string): number {
    return this.#paid.count(name)
  }

  #full(payment: ForeignPayment, isMany: boolean): Fault | null {
    const all = this.paidOf(contractName(payment)) > 0 ? 0 : this.#ofAll.waitMs(1, this.#now(), isMany)
    const waitMs = Math.max(this.#ofPayer.waitMs(contractName(payment)), all)
    return waitMs > 0 ? unproven(waitMs) : null
  }

  /** Null if the chain cannot tell, `unasked` after too many questions. */
  async #codeOf(payer: string, isMany: boolean): Promise<Code | 'unasked' | null> {
    const { ledger } = this.#deps
    const known = this.#known.get(payer)
    if (ledger === null) return null
    if (known !== undefined && this.#now() < known.untilMs) return known.code
    if (this.#codeQuestions.waitMs(1, this.#now(), isMany) > 0) return 'unasked'
    this.#codeQuestions.take(1, this.#now())
    const has = await ledger.hasCode(payer)
    return has === null ? null : this.#keep(payer, has ? 'contract' : 'none')
  }

  #keep(payer: string, code: Code): Code {
    this.#known.delete(payer)
    this.#known.set(payer, { code, untilMs: this.#now() + KEPT_MS[code] })
    if (this.#known.size > KEPT_MAX) this.#known.delete(this.#known.keys().next().value as string)
    return code
  }

  #now(): number {
    return this.#deps.clock.now()
  }
}

/** Name under which a contract is counted: the payer and the client that named it. */
export function contractName({ payer, client }: Pick<ForeignPayment, 'payer' | 'client'>): string {
  return `${client.address} ${payer}`
}

/** The fault for a signature that is not of the payer's own key, after too many questions. */
export function unproven(waitMs: number): Fault {
  return fault('stable/unproven', { seconds: Math.max(1, Math.ceil(waitMs / 1_000)) })
}
