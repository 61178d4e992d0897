import { setTimeout } from 'node:timers/promises'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import { verdict } from './api.ts'
import { Caller, type Order, type Payment } from './caller.ts'
import { units } from './unsigned.ts'

/** Where a transaction was mined, as the node acknowledged it. */
export interface Acknowledged {
  readonly height: number
  readonly blockId: string
}

/** A paid call with every answer it got. */
export interface Bought {
  readonly payment: Payment
  readonly key: number
  /** Whether the caller pays and never settles. */
  readonly abandoned: boolean
  /** Blocks until it is refunded if it was not settled. */
  readonly term: number
  readonly answers: Set<string>
}

/** The shortest term of the launch rules, in blocks. */
export const TERM_MIN = 100

/** Failures that a busy or dying node may cause. Any other is unexpected. */
const PASSING =
  /node-unreachable|fetch failed|terminated|other side closed|ECONNRE|account_limit|node_stopping|invalid_argument/

const [FAR, FUSD, SALT] = ['FAR', 'FUSD', 'SALT'] as unknown as readonly [TokenSymbol, TokenSymbol, TokenSymbol]
/** A trade over two pools: the native coin for SALT, and the SALT for WOOL. */
const TRADE = {
  ...{ assetIn: FAR, exactOut: false },
  hops: [
    { asset: SALT, feeBps: 30 },
    { asset: 'WOOL' as TokenSymbol, feeBps: 100 },
  ],
}

const MODES = ['ok', 'ok', 'slow:40', 'slow:250', 'fail', 'wrong'] as const

/**
 * Wallets that send and buy until the node dies. Keeps over all runs what the node acknowledged, what it answered, and failures that are
 * unexpected.
 */
export class Load {
  readonly acknowledged = new Map<string, Acknowledged>()
  readonly bought: Bought[] = []
  readonly unexpected: string[] = []
  readonly #random: () => number
  readonly #callers: ReadonlyMap<number, Caller>
  #requests = 0

  constructor(keys: readonly number[], random: () => number) {
    this.#random = random
    this.#callers = new Map(keys.map((key) => [key, new Caller('', key)]))
  }

  /** Sends and buys until `over` is aborted. */
  async run(url: string, over: AbortSignal): Promise<void> {
    const workers = [...this.#callers].map(([key, caller]) => {
      caller.url = url
      return key % 2 === 0 ? this.#repeat(over, () => this.#spend(caller)) : this.#buyer(over, key, caller)
    })
    await Promise.all(workers)
  }

  /** Settles up to `most` payments that have no answer yet, as callers do after a lost connection. */
  async takeUp(url: string, most: number): Promise<void> {
    const open = this.bought.filter(({ abandoned, answers }) => !abandoned && answers.size === 0).slice(0, most)
    await Promise.all(
      open.map(async (bought) => {
        const caller = this.#callers.get(bought.key) as Caller
        caller.url = url
        if ((await caller.transaction(bought.payment.txId)).status !== 'mined') return
        const reply = await caller.settle(bought.payment)
        bought.answers.add(verdict(reply))
      }),
    )
  }

  async #buyer(over: AbortSignal, key: number, caller: Caller): Promise<void> {
    await this.#repeat(over, () => this.#buy(key, caller))
  }

  async #repeat(over: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (!over.aborted) {
      try {
        await work()
      } catch (error) {
        const { message, cause } = error as Error & { cause?: Error }
        const text = `${message} ${cause?.message ?? ''}`
        if (PASSING.test(text)) await setTimeout(20)
        else if (!over.aborted) this.unexpected.push(text)
      }
    }
  }

  /** Sends a few transactions at once, then waits until they are mined. */
  async #spend(caller: Caller): Promise<void> {
    const count = 1 + this.#below(4)
    const sent = await Promise.all(Array.from({ length: count }, () => this.#move(caller)))
    for (const { txId } of sent) await this.#acknowledge(caller, txId)
  }

  /** Sends one random transaction. */
  #move(caller: Caller): Promise<{ readonly txId: string }> {
    const to = ([...this.#callers.values()][this.#below(this.#callers.size)] as Caller).key.address
    const amount = units(1 + this.#below(1_000))
    const pool = { assetA: FAR, assetB: SALT, feeBps: 30 }
    const moves = [
      () => caller.send('transfer', { to, amount, create: false }),
      () => caller.send('token_transfer', { symbol: SALT, to, amount, create: false }),
      () => caller.send('swap', { ...TRADE, amount: units(1_000_000 + this.#below(1_000)), limit: units(0) }),
      () =>
        caller.send('liquidity_add', {
          ...pool,
          amountA: units(10n ** 7n),
          amountB: units(10n ** 7n),
          minShares: units(1),
        }),
      () => caller.send('stake', { tier: this.#below(3), amount: units(10n ** 9n + BigInt(this.#below(1_000))) }),
      () => caller.send('stable_redeem', { symbol: FUSD, amount, minPaid: units(0) }),
    ]
    return (moves[this.#below(moves.length)] as (typeof moves)[number])()
  }

  async #buy(key: number, caller: Caller): Promise<void> {
    const abandoned = this.#random() < 0.2
    const term = abandoned && this.#random() < 0.7 ? TERM_MIN : 9_600
    const order: Order = {
      serviceId: this.#random() < 0.7 ? 'node-test-once' : 'node-test-again',
      request: `${MODES[this.#below(MODES.length)]}:${this.#requests++}`,
      term,
      // A secret makes each payment a different transaction, even one that takes the nonce of a lost payment.
      lock: this.#random() < 0.5 ? 'lock' : 'commitment',
    }
    const payment = await caller.pay(order)
    const bought: Bought = { payment, key, abandoned, term, answers: new Set() }
    this.bought.push(bought)
    await this.#acknowledge(caller, payment.txId)
    if (abandoned) return
    bought.answers.add(verdict(await caller.settle(payment)))
    if (this.#random() < 0.3) bought.answers.add(verdict(await caller.settle(payment)))
  }

  async #acknowledge(caller: Caller, txId: string): Promise<void> {
    const { height, blockId, confirmations } = await caller.mined(txId)
    if (confirmations >= 1) this.acknowledged.set(txId, { height, blockId })
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }
}
