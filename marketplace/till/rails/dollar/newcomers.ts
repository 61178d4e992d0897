import type { Clock } from '../../../../consensus/chain/ports.ts'
import { type Holder, heldTooMany, NETWORK_CLIENTS } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { TokenBucket } from '../../../chat/models/token-bucket.ts'
import { ClientCounts, RecentCounts } from '../../client-counts.ts'
import { type FacilitatorVerdict, isOfPayment, type StableLedger } from './facilitator.ts'
import { RANKS } from './facilitators.ts'

/** What {@link Newcomers} works with. */
export interface NewcomersDependencies {
  readonly clock: Clock
  /** The token's chain; null without a node to ask. */
  readonly ledger: StableLedger | null
  readonly asset: string
  /** How often a payer has paid lately, by the name under which it is counted. */
  readonly paidOf: (name: string) => number
  readonly isScarce: () => boolean
  /** The fault for a client that must wait `waitMs`; `stable/crowded` if absent. */
  readonly tooMany?: (waitMs: number) => Fault
}

/** A payment that is to be checked. */
export interface NewPayment {
  readonly payer: string
  /** Name under which the payer is counted, needed if any caller can name any payer. Absent: the payer itself. */
  readonly name?: string
  /** Units of the asset. */
  readonly amount: bigint
  readonly client: Holder
}

/**
 * Leave to ask a facilitator. `done` must be called with the verdict. `wasted` is called for a good payment that the payer's own fault made
 * useless.
 */
export interface Leave {
  readonly rank: number
  readonly done: (verdict: FacilitatorVerdict) => void
  readonly wasted: () => void
}

/** Bounds of payers that have not paid lately. Each paid call allows one more `refused`, `failed` and `short`. */
export const NEWCOMERS = {
  /** Payments of a client within a minute that facilitators refused. */
  refused: 10,
  /** The same while facilitators take few questions. */
  refusedWhileScarce: 2,
  /** Payments of a client within a minute at which facilitators failed: the payments may be the cause. */
  failed: 10,
  /** Payments of a client within a minute whose payer has too little money, which happens to honest payers. */
  short: 30,
  /** Checks of a client that are open at once. */
  atOnce: 6,
  /** The same while facilitators take few questions. */
  atOnceWhileScarce: 2,
  /** Questions for balances to the token's chain within a minute, for all clients. */
  balances: 600,
} as const
const PAID_MAX = 200
const MINUTE = { withinMs: 60_000, namesMax: 10_000 }
const SPAN = { most: 64, withinMs: 10 * 60_000, namesMax: 10_000 }
/** Maximum checks that wait for an open one of the same client or network to end: in one line, and in all. */
const WAITING_MAX = { ofClient: 64, ofAll: 192 }
const KEPT_MS = 3_000
const KEPT_MAX = 10_000
/** How long this node leaves the chain alone after it could not be asked. */
const AWAY_MS = 10_000
/** How many refused and failed payments move a client back in the order. */
const RANKS_MAX = 10
/** The wait that a client with too many waiting checks is told. */
const WAIT_MS = 5_000

/** The chain's answer, or the open question. */
interface Balance {
  readonly units: Promise<bigint | null>
  readonly untilMs: number
}

/**
 * Decides whose payments a facilitator is asked about. Any key can sign a payment at no cost, with or without money, and facilitators
 * answer a limited number of questions. A payer that has paid lately is checked at once; for any other the chain is asked for the balance
 * before.
 */
export class Newcomers {
  readonly #deps: NewcomersDependencies
  readonly #refused: RecentCounts
  /** Checks under way of payers that have paid lately, by the name under which the payer is counted. */
  readonly #open = new Map<string, number>()
  readonly #paidOfClient: ClientCounts
  readonly #refusedOfClient: ClientCounts
  readonly #failedOfClient: ClientCounts
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
    this.#failedOfClient = new ClientCounts(clock, { ...MINUTE, most: PAID_MAX + NEWCOMERS.failed })
    this.#shortOfClient = new ClientCounts(clock, { ...MINUTE, most: PAID_MAX + NEWCOMERS.short })
    const atOnce = (): number => (isScarce() ? NEWCOMERS.atOnceWhileScarce : NEWCOMERS.atOnce)
    this.#lines = new ClientLines(atOnce, WAITING_MAX)
    this.#questions = new TokenBucket(NEWCOMERS.balances, clock.now())
  }

  paid(client: Holder): void {
    this.#paidOfClient.add(client)
  }

  /**
   * Waits until a facilitator may be asked about a payment. Faults: `stable/refused` if the payer lacks the money; `stable/crowded`, or
   * that of {@link NewcomersDependencies.tooMany}, if too many of the client's payments were refused, failed or lacked money lately, or wait.
   */
  async leave(payment: NewPayment): Promise<Result<Leave>> {
    const { payer, client, name = payer } = payment
    if (this.#hasPaid(name)) {
      this.#openMore(name, 1)
      const end = (): void => this.#openMore(name, -1)
      return ok({ rank: RANKS.payer, ...this.#leaveOf(payment, { balance: undefined, end }) })
    }
    const full = this.#full(client)
    if (full !== null) return fail(full)
    if (!(await this.#lines.begin(client))) return fail(this.#tooMany(WAIT_MS))
    // Other payments of the client may have been refused while this one waited.
    const refused = this.#full(client) ?? (await this.#unfunded(payment))
    const end = (): void => this.#lines.end(client)
    if (refused !== null) {
      end()
      return fail(refused)
    }
    const badly = this.#refusedOfClient.count(client) + this.#failedOfClient.count(client)
    const rank = RANKS.newcomer + Math.min(RANKS_MAX, badly)
    return ok({ rank, ...this.#leaveOf(payment, { balance: this.#balances.get(payer), end }) })
  }

  /** `balance` is what was known of the payer before. */
  #leaveOf(
    { payer, client, name = payer }: NewPayment,
    { balance, end }: { readonly balance: Balance | undefined; readonly end: () => void },
  ): Pick<Leave, 'done' | 'wasted'> {
    const wasted = (): void => {
      this.#refused.add(name)
      this.#refusedOfClient.add(client)
    }
    const done = (verdict: FacilitatorVerdict): void => {
      end()
      if (isFailure(verdict)) {
        this.#refused.add(name)
        this.#failedOfClient.add(client)
      }
      if (!isRefusal(verdict)) return
      wasted()
      // The payer may have spent its money, so a balance from before the check is dropped.
      if (this.#balances.get(payer) === balance) this.#balances.delete(payer)
    }
    return { done, wasted }
  }

  /** Whether a payer has paid lately more often than its payments were refused, failed or are being checked. */
  #hasPaid(name: string): boolean {
    return this.#deps.paidOf(name) > this.#refused.count(name) + (this.#open.get(name) ?? 0)
  }

  #openMore(name: string, more: 1 | -1): void {
    const open = (this.#open.get(name) ?? 0) + more
    if (open > 0) this.#open.set(name, open)
    else this.#open.delete(name)
  }

  #full(client: Holder): Fault | null {
    const { refused, refusedWhileScarce, failed, short } = NEWCOMERS
    const borne = this.#deps.isScarce() ? refusedWhileScarce : refused
    const waitMs = Math.max(
      this.#refusedOfClient.waitMs(client, borne, this.#paidOfClient),
      this.#failedOfClient.waitMs(client, failed, this.#paidOfClient),
      this.#shortOfClient.waitMs(client, short, this.#paidOfClient),
    )
    return waitMs > 0 ? this.#tooMany(waitMs) : null
  }

  /** The fault if the chain shows that a payer has too little money. A balance that is known already counts no client as `short`. */
  async #unfunded({ payer, amount, client }: NewPayment): Promise<Fault | null> {
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

  #tooMany(waitMs: number): Fault {
    const { tooMany = crowded } = this.#deps
    return tooMany(waitMs)
  }

  #now(): number {
    return this.#deps.clock.now()
  }
}

function crowded(waitMs: number): Fault {
  return fault('stable/crowded', { seconds: Math.max(1, Math.ceil(waitMs / 1_000)) })
}

function isRefusal(verdict: FacilitatorVerdict): boolean {
  if (verdict.is === 'unknown') return verdict.status !== undefined && isOfPayment(verdict.status)
  return verdict.is === 'refused'
}

/** Whether a facilitator was asked and said neither yes nor no. The payment may be the cause. */
function isFailure(verdict: FacilitatorVerdict): boolean {
  return verdict.is === 'unreachable' ? verdict.status !== undefined : verdict.is === 'unknown' && !isRefusal(verdict)
}

interface Waiter {
  readonly holder: Holder
  readonly line: Line
  readonly settle: (begins: boolean) => void
}

/** Checks of a client or a network that are under way, and those that wait for one of them to end. */
interface Line {
  open: number
  readonly waiting: Set<Waiter>
}

/** How many may wait: in the line of one client or network, and in all. */
export interface LineBounds {
  readonly ofClient: number
  readonly ofAll: number
}

/**
 * Limits how many checks each client has under way, and each network to {@link NETWORK_CLIENTS} times as many. If too many wait,
 * {@link heldTooMany} chooses who loses its newest place.
 */
export class ClientLines {
  readonly #atOnce: () => number
  readonly #bounds: LineBounds
  readonly #lines = new Map<string, Line>()
  readonly #waiting = new Set<Waiter>()

  /** `atOnce` returns how many checks one client may have under way. */
  constructor(atOnce: () => number, bounds: LineBounds) {
    this.#atOnce = atOnce
    this.#bounds = bounds
  }

  /** False if too many checks wait already, or if another client took the place in line. */
  async begin(holder: Holder): Promise<boolean> {
    const { address, network } = holder
    if (!(await this.#enter(address, 1, holder))) return false
    if (network === address || (await this.#enter(network, NETWORK_CLIENTS, holder))) return true
    this.#leave(address, 1)
    return false
  }

  end({ address, network }: Holder): void {
    if (network !== address) this.#leave(network, NETWORK_CLIENTS)
    this.#leave(address, 1)
  }

  #enter(name: string, clients: number, holder: Holder): boolean | Promise<boolean> {
    const line = this.#lines.get(name) ?? { open: 0, waiting: new Set() }
    this.#lines.set(name, line)
    if (line.open < clients * this.#atOnce()) {
      line.open += 1
      return true
    }
    if (line.waiting.size >= this.#bounds.ofClient || !this.#isRoomFor(holder)) return false
    return new Promise((settle) => {
      const waiter = { holder, line, settle }
      line.waiting.add(waiter)
      this.#waiting.add(waiter)
    })
  }

  #isRoomFor(holder: Holder): boolean {
    if (this.#waiting.size < this.#bounds.ofAll) return true
    const newest = heldTooMany(this.#waiting, holder).at(-1)
    if (newest !== undefined) this.#settle(newest, false)
    return newest !== undefined
  }

  #leave(name: string, clients: number): void {
    const line = this.#lines.get(name) as Line
    line.open -= 1
    for (const waiter of line.waiting) {
      if (line.open >= clients * this.#atOnce()) break
      line.open += 1
      this.#settle(waiter, true)
    }
    if (line.open === 0) this.#lines.delete(name)
  }

  #settle(waiter: Waiter, begins: boolean): void {
    waiter.line.waiting.delete(waiter)
    this.#waiting.delete(waiter)
    waiter.settle(begins)
  }
}
