import { setTimeout } from 'node:timers/promises'
import type { Result } from '../../consensus/primitives/result.ts'
import type { DollarCall, DollarClaimStore, DollarSettled } from '../../marketplace/till/rails/dollar/claim.ts'
import { identify } from '../../marketplace/till/rails/dollar/identity.ts'
import { type Payer, paymentOf, TERMS, TestRail } from './dollar.ts'
import type { Profile } from './dollar-facilitator.ts'
import { AGAIN, ONCE } from './market.ts'
import { until } from './processes.ts'
import { Dice } from './walk.ts'

const PROFILES: readonly Profile[] = ['good', 'good', 'good', 'html', '500', 'refuses', 'deaf']
const SETTLE_PROFILES: readonly (Profile | null)[] = [
  ...[null, null, null],
  ...(['lost', 'gone', 'lying', 'deaf', '500', 'stuck', 'pending'] as const),
]
/** How long a call waits for its result: short, so that many calls end before it is known. */
const SETTLE_WAIT_MS = 300
const PAYERS = 3

/** A signed call of a walk. */
export interface WalkOrder {
  readonly call: DollarCall
  readonly payer: Payer
  /** Another request than the signed one. Some calls offer this payment for it. */
  readonly otherRequest: string
}

/** An answer with a result, and whether the payment had been carried out by then. */
export interface WalkAnswer {
  readonly order: WalkOrder
  readonly request: string
  readonly settled: DollarSettled
  readonly wasPaid: boolean
}

/**
 * Random calls, held work, crashes, failing facilitators, and authorizations that other parties carry out or cancel, on a dollar rail over
 * real sockets and LevelDB. The choices come from the seed; their timing also depends on the machine.
 */
export class DollarWalk {
  readonly dice: Dice
  readonly orders: WalkOrder[] = []
  readonly answers: WalkAnswer[] = []
  /** Ids of claims that were `unpaid` at some time. */
  readonly onceUnpaid: Set<string>
  readonly #payers: readonly Payer[]
  readonly #underWay: Promise<void>[] = []
  #rail: TestRail

  private constructor(dice: Dice, rail: TestRail, onceUnpaid: Set<string>) {
    this.dice = dice
    this.#rail = rail
    this.onceUnpaid = onceUnpaid
    this.#payers = Array.from({ length: PAYERS }, () => rail.payer())
  }

  static async open(seed: number): Promise<DollarWalk> {
    const dice = new Dice(seed)
    const onceUnpaid = new Set<string>()
    const wrapStore = (store: DollarClaimStore): DollarClaimStore => watched(store, onceUnpaid)
    const rail = await TestRail.open({ facilitators: 1 + dice.below(2), settleWaitMs: SETTLE_WAIT_MS, wrapStore })
    return new DollarWalk(dice, rail, onceUnpaid)
  }

  /** The rail of the running node. */
  get rail(): TestRail {
    return this.#rail
  }

  /** Does one thing at random. */
  async step(): Promise<void> {
    const act = this.dice.weighted<() => Promise<unknown> | unknown>([
      [25, () => this.#order()],
      [40, () => this.#call()],
      [10, () => this.#trouble()],
      [5, () => this.#blackout()],
      [4, () => this.#hold()],
      [6, () => this.#release()],
      [4, () => this.#meddle()],
      [5, () => this.#restart()],
      [1, () => setTimeout(100)],
    ])
    await act()
  }

  /**
   * Makes the facilitators and the token's chain work again, restarts the node, and waits until every open claim is `unpaid` and its
   * authorization was not carried out.
   */
  async rest(): Promise<void> {
    this.#release()
    for (const facilitator of this.rail.facilitators) {
      facilitator.profile = 'good'
      facilitator.settleProfile = null
    }
    this.rail.token.isDown = false
    await Promise.all(this.#underWay)
    await this.#restart()
    await until('nothing is under way', async () => {
      const open = await this.rail.store.open()
      // The till finds used authorizations and ends their claims. Unused ones are watched until they expire.
      return open.every(({ state, payer, nonce }) => state === 'unpaid' && !this.isPaid(payer, nonce))
    })
  }

  /** Whether an authorization was carried out. */
  isPaid(payer: string, nonce: string): boolean {
    return this.rail.token.uses.some((use) => use.from === payer && use.nonce === nonce && !use.isCancelled)
  }

  /** How often a service began work for any of these requests. */
  runsOf(serviceId: string, requests: readonly string[]): number {
    const works = requests.map((request) => `${serviceId} ${request}`)
    return this.rail.market.workbench.begun.filter((work) => works.includes(work)).length
  }

  /** Signs an order. With an idempotency key it mostly repeats an earlier request, with another authorization. */
  #order(): void {
    const { dice, orders } = this
    const n = orders.length
    const payer = dice.one(this.#payers)
    const idempotencyKey = dice.chance(0.4) ? `order-${dice.below(3)}` : null
    const serviceId = dice.one([ONCE, AGAIN])
    const isShared = idempotencyKey !== null && dice.chance(0.8)
    const request = isShared ? `ok:${idempotencyKey}` : `${dice.one(['ok', 'ok', 'slow:15', 'fail'])}:${n}`
    const call = { serviceId, request, idempotencyKey, payment: paymentOf(payer) }
    orders.push({ call, payer, otherRequest: `ok:other-${n}` })
    const who = `payer ${this.#payers.indexOf(payer)}`
    dice.tell(`order ${n} of ${who} for ${serviceId} ${request}, named ${idempotencyKey}`)
  }

  async #call(): Promise<void> {
    const { dice, rail, orders } = this
    if (orders.length === 0) return
    const order = dice.one(orders)
    const request = dice.chance(0.08) ? order.otherRequest : order.call.request
    const idempotencyKey = dice.chance(0.08) ? null : order.call.idempotencyKey
    const isHandedOver = dice.chance(0.5)
    const line = dice.tell(`call for order ${orders.indexOf(order)}: ${request}, named ${idempotencyKey}`)
    const end = async (outcome: Result<DollarSettled>): Promise<void> => {
      dice.add(line, outcome.ok ? (outcome.value.replayed ? 'replayed' : 'settled') : outcome.fault.code)
      if (!outcome.ok) return
      const { claim } = outcome.value
      this.answers.push({ order, request, settled: outcome.value, wasPaid: this.isPaid(claim.payer, claim.nonce) })
      if (isHandedOver) await rail.till.handedOver(claim)
    }
    this.#underWay.push(rail.settle({ ...order.call, request, idempotencyKey }).then(end))
    if (dice.chance(0.5)) await setTimeout(dice.below(20))
  }

  #trouble(): void {
    const { dice, rail } = this
    const facilitator = dice.one(rail.facilitators)
    facilitator.profile = dice.one(PROFILES)
    facilitator.settleProfile = dice.one(SETTLE_PROFILES)
    const which = rail.facilitators.indexOf(facilitator)
    dice.tell(`facilitator ${which}: ${facilitator.profile}, at settlement ${facilitator.settleProfile}`)
  }

  #blackout(): void {
    const { token } = this.rail
    token.isDown = this.dice.chance(0.5)
    this.dice.tell(`the token's chain is ${token.isDown ? 'down' : 'up'}`)
  }

  #hold(): void {
    this.dice.tell('work is held')
    this.rail.market.workbench.hold()
  }

  #release(): void {
    this.dice.tell('work is released')
    this.rail.market.workbench.release()
  }

  /**
   * Another party carries an authorization out, or its payer cancels it. This happens only to unused authorizations whose claim is past
   * `claimed`. For any other authorization the till owes nothing.
   */
  async #meddle(): Promise<void> {
    const { dice, orders } = this
    if (orders.length === 0) return
    const { call } = dice.one(orders)
    const isCancelled = dice.chance(0.3)
    const { from, to, nonce, value, validAfter, validBefore, signature } = call.payment.authorization
    const claim = await this.rail.store.get(identify(TERMS, call).id)
    const { token } = this.rail
    if (claim === undefined || claim.state === 'claimed' || token.uses.some((use) => use.nonce === nonce)) return
    const said = { from, to, nonce, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
    if (isCancelled) token.cancel(from, nonce)
    else token.transfer(said, signature)
    dice.tell(
      `an authorization is ${isCancelled ? 'taken back' : 'carried out'} that is ${claim.state}: ${call.request}`,
    )
  }

  async #restart(): Promise<void> {
    this.dice.tell('the node dies and starts')
    this.#rail = await this.rail.restart()
  }
}

/** A store that records the claims that become unpaid. */
function watched(store: DollarClaimStore, onceUnpaid: Set<string>): DollarClaimStore {
  return {
    get: (id) => store.get(id),
    claim: (claim) => store.claim(claim),
    advance: (from, next) => {
      if (next.state === 'unpaid') onceUnpaid.add(next.id)
      return store.advance(from, next)
    },
    release: (from, id) => store.release(from, id),
    open: () => store.open(),
    recent: (limit, cursor, serviceId) => store.recent(limit, cursor, serviceId),
    handedOver: (id) => store.handedOver(id),
    pruneResults: (beforeMs, bytesMax) => store.pruneResults(beforeMs, bytesMax),
  }
}
