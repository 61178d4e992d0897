import type { Clock } from '../../consensus/chain/ports.ts'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { TokenBucket } from '../models/token-bucket.ts'
import { ClientCounts } from './client-counts.ts'
import { ClientLines } from './client-lines.ts'
import type { FacilitatorVerdict, StableLedger } from './facilitator.ts'
import { RANKS } from './facilitators.ts'
import { RecentCounts } from './recent-counts.ts'

/** What payments are judged with before a facilitator is asked. */
export interface NewcomersDependencies {
  readonly clock: Clock
  /** The token's chain; null where there is no node to ask. */
  readonly ledger: StableLedger | null
  /** Contract of the token. */
  readonly asset: string
  /** How often a payer has paid lately. */
  readonly paidOf: (payer: string) => number
  /** Whether facilitators take few questions now. */
  readonly isScarce: () => boolean
}

/** A payment that its payer's own key has signed. */
export interface OwnPayment {
  readonly payer: string
  /** Units of the asset. */
  readonly amount: bigint
  /** Who sent it, as the doors tell callers apart. */
  readonly client: Holder
}

/** Leave to ask a facilitator; `done` hears what came of it, and `wasted` where a good payment could then not be used by its own fault. */
export interface Leave {
  readonly rank: number
  readonly hasPaid: boolean
  readonly done: (verdict: FacilitatorVerdict) => void
  readonly wasted: () => void
}

/**
 * Refused payments of a client within a minute, beside as many as it has paid, after which payers who have not paid lately are not
 * checked for it; where facilitators take few questions; those whose payers' balances were too small, as the token's chain says, which
 * honest payers' are, too; how many of its checks are open at once; and payers whose balance the chain is asked for within a minute.
 */
export const NEWCOMERS = {
  refused: 10,
  refusedWhileScarce: 2,
  short: 30,
  atOnce: 6,
  atOnceWhileScarce: 2,
  balances: 600,
} as const
const PAID_MAX = 200
const MINUTE = { withinMs: 60_000, namesMax: 10_000 }
const SPAN = { most: 64, withinMs: 10 * 60_000, namesMax: 10_000 }
/** Checks of newcomers that wait for others of their client: of one client, and in all. */
const WAITING_MAX = { ofClient: 64, ofAll: 192 }
/** How long a balance is believed, and how long a chain is left alone that could not be asked. */
const KEPT_MS = 3_000
const KEPT_MAX = 10_000
const AWAY_MS = 10_000
/** Refusals after which a client waits no longer than others with as many. */
const RANKS_MAX = 10
/** What a client is told to wait whose checks wait already. */
const WAIT_MS = 5_000

/** What a payer holds, as its chain was asked. */
interface Balance {
  readonly units: Promise<bigint | null>
  readonly untilMs: number
}

/**
 * Any key signs a payment at no cost, whether it has money or not, and facilitators take so many questions only. Who has paid lately
 * is asked about at once. For others the chain is asked first whether there is money, and a client whose payments were refused has a
 * share of questions: what one client makes up takes them from no other.
 */
export class Newcomers {
  readonly #deps: NewcomersDependencies
  readonly #refused: RecentCounts
  /** Checks under way of payers as those who have paid. */
  readonly #open = new Map<string, number>()
  readonly #paidOfClient: ClientCounts
  readonly #refusedOfClient: ClientCounts
  readonly #shortOfClient: ClientCounts
  readonly #questions: TokenBucket
  readonly #balances = new Map<string, Balance>()
  readonly #lines: ClientLines
  #awayUntilMs = 0

  constructor(dependencies: NewcomersDependencies) {
    this.#deps = dependencies
    const { clock, isScarce } = dependencies
    this.#refused = new RecentCounts(clock, SPAN)
    this.#paidOfClient = new ClientCounts(clock, { ...MINUTE, most: PAID_MAX })
    this.#refusedOfClient = new ClientCounts(clock, { ...MINUTE, most: PAID_MAX + NEWCOMERS.refused })
    this.#shortOfClient = new ClientCounts(clock, { ...MINUTE, most: PAID_MAX + NEWCOMERS.short })
    const atOnce = (): number => (isScarce() ? NEWCOMERS.atOnceWhileScarce : NEWCOMERS.atOnce)
    this.#lines = new ClientLines(atOnce, WAITING_MAX)
    this.#questions = new TokenBucket(NEWCOMERS.balances, clock.now())
  }

  /** Takes note that a client's call was paid. */
  paid(client: Holder): void {
    this.#paidOfClient.add(client)
  }

  /**
   * Waits until a facilitator may be asked about a payment. Faults: `stable/refused` where the payer has not the money,
   * `stable/crowded` where too many payments of the client were refused lately, or wait.
   */
  async leave(payment: OwnPayment): Promise<Result<Leave>> {
    const { payer, client } = payment
    const hasPaid = this.#hasPaid(payer)
    let balance: Balance | undefined
    const wasted = (): void => {
      this.#refused.add(payer)
      this.#refusedOfClient.add(client)
    }
    const done = ({ is }: FacilitatorVerdict): void => {
      if (is === 'refused') {
        wasted()
        // It may have spent what it had; an answer that was asked for later knows of it.
        if (this.#balances.get(payer) === balance) this.#balances.delete(payer)
      }
      if (hasPaid) this.#openMore(payer, -1)
      else this.#lines.end(client)
    }
    if (hasPaid) {
      this.#openMore(payer, 1)
      return ok({ rank: RANKS.payer, hasPaid, done, wasted })
    }
    const full = this.#full(client)
    if (full !== null) return fail(full)
    if (!(await this.#lines.begin(client))) return fail(crowded(WAIT_MS))
    // Others of the client may have been refused while it waited.
    const refused = this.#full(client) ?? (await this.#unfunded(payment))
    balance = this.#balances.get(payer)
    if (refused !== null) {
      this.#lines.end(client)
      return fail(refused)
    }
    const rank = RANKS.newcomer + Math.min(RANKS_MAX, this.#refusedOfClient.count(client))
    return ok({ rank, hasPaid, done, wasted })
  }

  /** Whether a payer has paid lately, and oftener than payments of its were refused or could still be. */
  #hasPaid(payer: string): boolean {
    return this.#deps.paidOf(payer) > this.#refused.count(payer) + (this.#open.get(payer) ?? 0)
  }

  #openMore(payer: string, more: 1 | -1): void {
    const open = (this.#open.get(payer) ?? 0) + more
    if (open > 0) this.#open.set(payer, open)
    else this.#open.delete(payer)
  }

  #full(client: Holder): Fault | null {
    const { refused, refusedWhileScarce } = NEWCOMERS
    const borne = this.#deps.isScarce() ? refusedWhileScarce : refused
    const shortMs = this.#shortOfClient.waitMs(client, NEWCOMERS.short, this.#paidOfClient)
    const waitMs = Math.max(this.#refusedOfClient.waitMs(client, borne, this.#paidOfClient), shortMs)
    return waitMs > 0 ? crowded(waitMs) : null
  }

  /** Why a payer cannot pay, as its chain says; null where it can, or where that is not known. What is known costs no question. */
  async #unfunded({ payer, amount, client }: OwnPayment): Promise<Fault | null> {
    const known = this.#balances.get(payer)
    const isKnown = known !== undefined && this.#now() < known.untilMs
    const units = await (isKnown ? known.units : this.#ask(payer))
    if (units === null || units >= amount) return null
    if (!isKnown) this.#shortOfClient.add(client)
    return fault('stable/refused', { reason: 'invalid_exact_evm_insufficient_balance' })
  }

  #ask(payer: string): Promise<bigint | null> | null {
    const { ledger, asset } = this.#deps
    if (ledger === null || this.#now() < this.#awayUntilMs || this.#questions.waitMs(1, this.#now()) > 0) return null
    this.#questions.take(1, this.#now())
    const units = ledger.balance(asset, payer).then((balance) => {
      if (balance === null) this.#awayUntilMs = this.#now() + AWAY_MS
      return balance
    })
    this.#balances.delete(payer)
    this.#balances.set(payer, { units, untilMs: this.#now() + KEPT_MS })
    if (this.#balances.size > KEPT_MAX) this.#balances.delete(this.#balances.keys().next().value as string)
    return units
  }

  #now(): number {
    return this.#deps.clock.now()
  }
}

function crowded(waitMs: number): Fault {
  return fault('stable/crowded', { seconds: Math.max(1, Math.ceil(waitMs / 1_000)) })
}
