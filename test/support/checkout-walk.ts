import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { Settled } from '../../marketplace/till/rail.ts'
import type { FinishedClaim, PaidCall } from '../../marketplace/till/rails/native/claim.ts'
import { FINAL_DEPTH } from '../../marketplace/till/settings.ts'
import { blocksFrom, fork, importAll, PROVEN_WORK } from './branches.ts'
import { type TestChain, wallet } from './chain.ts'
import { AGAIN, ONCE, type Order, TestMarket, type TestPayment } from './market.ts'
import { levelChain } from './partition.ts'
import { Dice } from './walk.ts'

/** Numbers of the buyers' wallets. Wallet 2 belongs to the shop, and wallet 9 to the miner. */
const WALLETS = [1, 3, 4, 5, 6, 7, 8]
const LOCKS = ['lock', 'commitment', 'none'] as const
/** Marks blocks of the other branch, so that they differ from those of the node's branch. */
const OTHER = { extra: new Uint8Array(32).fill(0x5a) }
/** Enough blocks to mine every waiting transaction. */
const DRAINING_BLOCKS = 3
/** Enough blocks to close everything that can be closed: receipts wait for depth. */
const CLOSING_BLOCKS = 70
/** Longer than a call waits for its payment. */
const PATIENCE_MS = 40_000

export interface WalkPayment extends TestPayment {
  readonly lock: (typeof LOCKS)[number]
  /** Another request than the paid one. Some calls offer this payment for it. */
  readonly otherRequest: string
}

/** A call of a walk: what was changed in it, in which life of the node, and how it ended. `ended` is null while the call runs. */
export interface WalkCall {
  readonly payment: WalkPayment
  readonly change: 'nothing' | 'request' | 'wrong secret' | 'no secret'
  readonly life: number
  ended: Result<Settled<FinishedClaim>> | Error | null
}

/** Random orders, calls, held work, blocks, deaths and reorganisations of a native market over a chain on LevelDB. */
export class CheckoutWalk {
  readonly dice: Dice
  readonly payments: WalkPayment[] = []
  readonly calls: WalkCall[] = []
  /** The work that services began, in each life of the node. */
  readonly begun: string[][] = []
  life = 0
  #market: TestMarket
  #theirs: TestChain | null = null
  #forkHeight = 0

  private constructor(seed: number, market: TestMarket) {
    this.dice = new Dice(seed)
    this.#market = market
    this.begun.push(market.workbench.begun)
  }

  static async open(seed: number): Promise<CheckoutWalk> {
    const market = await TestMarket.open({ test: await levelChain() })
    await market.mine()
    return new CheckoutWalk(seed, market)
  }

  /** The market in its present life. */
  get market(): TestMarket {
    return this.#market
  }

  /** Does one thing at random. */
  step(): Promise<unknown> {
    const act = this.dice.weighted<() => Promise<unknown>>([
      [20, () => this.#order()],
      [30, () => this.#call()],
      [20, () => this.#mine()],
      [6, () => this.#hold()],
      [6, () => this.#release(1)],
      [4, () => this.#release()],
      [6, () => this.#pass()],
      [3, () => this.#restart()],
      [2, () => this.#resubmit()],
      [1, () => this.#mine(FINAL_DEPTH)],
      [5, () => this.#branch()],
    ])
    return act()
  }

  /** Releases held work, sends lost payments once more, and mines until everything that can be closed is closed. */
  async rest(): Promise<void> {
    await this.#release()
    await this.market.mineWaiting(DRAINING_BLOCKS)
    for (const { tx } of inOrder(this.payments.filter((one) => this.#isLost(one)))) await this.market.mempool.submit(tx)
    for (let i = 0; i < CLOSING_BLOCKS; i++) {
      await this.market.pass(500)
      await this.market.mineWaiting()
      await this.#release()
    }
    await this.market.pass(PATIENCE_MS)
  }

  /** How often work was begun for the paid request of a payment and for its `otherRequest`, together. */
  runsOf({ serviceId, request, otherRequest }: WalkPayment): number {
    const works = [`${serviceId} ${request}`, `${serviceId} ${otherRequest}`]
    return this.begun.flat().filter((work) => works.includes(work)).length
  }

  isMined({ txId }: WalkPayment): boolean {
    return this.market.test.chain.database.location(txId) !== undefined
  }

  /** Whether another payment of the same wallet was mined with the same nonce. Then every node refuses this one. */
  isReplaced({ txId, tx: { body } }: WalkPayment): boolean {
    const rivals = this.payments.filter(({ tx }) => tx.body.sender === body.sender && tx.body.nonce === body.nonce)
    return rivals.some((one) => one.txId !== txId && this.isMined(one))
  }

  #isLost(payment: WalkPayment): boolean {
    const { sender } = payment.tx.body
    const waiting = this.market.mempool.ofAccount(sender)
    return !this.isMined(payment) && !waiting.some(({ txId }) => txId === payment.txId)
  }

  /** A wallet with no waiting transaction pays. If its last payment was lost in a reorganisation, the new one has the same nonce. */
  async #order(): Promise<void> {
    const { dice, market } = this
    const from = dice.one(WALLETS)
    const { address } = wallet(from)
    if (market.mempool.ofAccount(address).length > 0) return
    const n = this.payments.length
    const order = { from, serviceId: dice.one([ONCE, AGAIN]), lock: dice.one(LOCKS) } satisfies Order
    const request = `${dice.chance(0.25) ? 'fail' : 'ok'}:${n}`
    // The memo makes the payment differ from a lost one with the same nonce: without a secret all else may be equal.
    const nonce = market.test.chain.database.get(ACCOUNTS, address)?.nonce ?? 0n
    const payment = await market.order(request, { ...order, tx: { nonce, memo: encodeText(`${n}`) } })
    await market.submit(payment.tx)
    this.payments.push({ ...payment, lock: order.lock, otherRequest: `ok:other-${n}` })
    dice.tell(`payment ${n} of wallet ${from} for ${order.serviceId} ${request}, ${order.lock}`)
  }

  async #call(): Promise<void> {
    const { dice, market, payments } = this
    if (payments.length === 0) return
    const payment = dice.one(payments)
    const change = dice.weighted<WalkCall['change']>([
      [77, 'nothing'],
      [10, 'request'],
      [9, 'wrong secret'],
      [4, 'no secret'],
    ])
    for (let times = dice.one([1, 1, 1, 2]); times > 0; times--) this.#begin(payment, change)
    await market.quiet()
  }

  #begin(payment: WalkPayment, change: WalkCall['change']): void {
    const call: WalkCall = { payment, change, life: this.life, ended: null }
    this.calls.push(call)
    const line = this.dice.tell(`call for payment ${this.payments.indexOf(payment)}, changed ${change}`)
    const end = (ended: Result<Settled<FinishedClaim>> | Error): void => {
      call.ended = ended
      this.dice.add(line, ended instanceof Error ? String(ended) : ended.ok ? 'answered' : ended.fault.code)
    }
    this.market.settle(payment, changed(payment, change)).then(end, end)
  }

  #mine(count = 1): Promise<void> {
    this.dice.tell(`blocks: ${count}`)
    return this.market.mineWaiting(count)
  }

  async #hold(): Promise<void> {
    this.dice.tell('work is held')
    this.market.workbench.hold()
  }

  async #release(count?: number): Promise<void> {
    this.dice.tell(`work is released: ${count ?? 'all'}`)
    this.market.workbench.release(count)
    await this.market.quiet()
  }

  async #pass(): Promise<void> {
    const ms = this.dice.one([100, 500, 5_000])
    this.dice.tell(`${ms} ms pass`)
    await this.market.pass(ms)
  }

  async #restart(): Promise<void> {
    this.dice.tell('the node dies and starts')
    this.#market = await this.market.restart()
    this.life += 1
    this.begun.push(this.market.workbench.begun)
    await this.market.till.resume()
    await this.market.quiet()
  }

  /** Sends a lost payment again; the node may refuse it. */
  async #resubmit(): Promise<void> {
    const lost = this.payments.filter((one) => this.#isLost(one))
    if (lost.length === 0) return
    const payment = this.dice.one(lost)
    const submitted = await this.market.mempool.submit(payment.tx)
    const outcome = submitted.ok ? 'taken' : submitted.fault.code
    this.dice.tell(`payment ${this.payments.indexOf(payment)} is sent again -> ${outcome}`)
  }

  /** Begins another branch at the head. If there is one, makes it heavier than the node's branch, some of whose payments it takes over. */
  async #branch(): Promise<void> {
    const { dice, market } = this
    const { test } = market
    const theirs = this.#theirs
    if (theirs === null) {
      this.#theirs = await fork(test)
      this.#forkHeight = test.height
      dice.tell(`another branch from height ${test.height}`)
      return
    }
    this.#theirs = null
    const depth = test.height - this.#forkHeight
    if (depth === 0) return
    const kept = this.#keptOf(test)
    const at = theirs.height + 1 + dice.below(depth + 1)
    while (theirs.height <= test.height) await theirs.mine(theirs.height + 1 === at ? kept : [], OTHER)
    const outcome = await importAll(test, blocksFrom(theirs, this.#forkHeight + 1), PROVEN_WORK)
    await market.quiet()
    dice.tell(`${depth} blocks are replaced, ${kept.length} payments stay -> ${String(outcome)}`)
    // The restarted node resumes begun work, even if its payment is no longer on the best chain.
    if (dice.chance(0.5)) await this.#restart()
  }

  /**
   * Some of the payments mined since the other branch began. Payments with the lowest nonces are kept, so that no wallet's nonce is
   * missing.
   */
  #keptOf({ chain }: TestChain): readonly TestPayment['tx'][] {
    const mined = this.payments.filter(({ txId }) => (chain.database.location(txId)?.height ?? 0) > this.#forkHeight)
    const kept = inOrder(mined).slice(0, this.dice.below(mined.length + 1))
    return kept.map(({ tx }) => tx)
  }
}

function inOrder(payments: readonly WalkPayment[]): readonly WalkPayment[] {
  return [...payments].sort((a, b) => Number(a.tx.body.nonce - b.tx.body.nonce))
}

function changed({ otherRequest }: WalkPayment, change: WalkCall['change']): Partial<PaidCall> {
  if (change === 'request') return { request: otherRequest }
  if (change === 'wrong secret') return { secret: new Uint8Array(32).fill(9) }
  return change === 'no secret' ? { secret: null } : {}
}
