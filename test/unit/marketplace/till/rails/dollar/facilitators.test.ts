import { afterEach, describe, expect, it } from 'vitest'
import type { Facilitator, FacilitatorVerdict } from '../../../../../../marketplace/till/rails/dollar/facilitator.ts'
import { type Asker, FacilitatorPool, RANKS } from '../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { systemTimers } from '../../../../../../src/daemon/runtime.ts'
import { TestTime } from '../../../../../support/market-parts.ts'

const NETWORK = { word: 'base-sepolia', caip2: 'eip155:84532', chainId: 84_532 } as const
const REQUEST = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} } as const
const GOOD: FacilitatorVerdict = { is: 'good', payer: null, transaction: null }
const GONE: FacilitatorVerdict = { is: 'unreachable', detail: 'it is gone' }

/** A facilitator whose answers the test gives by hand. */
class Slow implements Facilitator {
  readonly url = 'http://127.0.0.1:1'
  readonly waiting: ((verdict: FacilitatorVerdict) => void)[] = []

  verify(): Promise<FacilitatorVerdict> {
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  async settle(): Promise<FacilitatorVerdict> {
    return GOOD
  }

  async supports() {
    return { ok: true, answered: true, detail: 'it takes it' }
  }
}

const opened: FacilitatorPool[] = []
afterEach(() => {
  for (const pool of opened.splice(0)) pool.stop()
})
/** Waits until all ready callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const burst = async (calls: number, client?: string) => {
  const slow = new Slow()
  const pool = new FacilitatorPool({ facilitators: [slow], network: NETWORK, clock: Date, timers: systemTimers })
  opened.push(pool)
  await pool.start()
  const verdicts = Promise.all(Array.from({ length: calls }, () => pool.verify(REQUEST, { client })))
  await settled()
  return { slow, pool, verdicts }
}

describe('a burst of calls', () => {
  it('asks a facilitator 64 at a time, and every caller gets an answer', async () => {
    const { slow, verdicts } = await burst(200)
    const rounds: number[] = []
    while (slow.waiting.length > 0) {
      rounds.push(slow.waiting.length)
      for (const answer of slow.waiting.splice(0)) answer(GOOD)
      await settled()
    }
    expect(rounds).toEqual([64, 64, 64, 8])
    expect((await verdicts).map(({ verdict }) => verdict)).toEqual(Array.from({ length: 200 }, () => GOOD))
  })

  it('of one client lets another in as soon as a place is free', async () => {
    const { slow, pool, verdicts } = await burst(200, 'crowd')
    let isAnswered = false
    const guest = pool.verify(REQUEST, { client: 'guest' }).then(() => (isAnswered = true))
    slow.waiting.shift()?.(GOOD)
    await settled()
    slow.waiting.pop()?.(GOOD)
    await settled()
    expect(isAnswered).toBe(true)
    while (slow.waiting.length > 0) {
      for (const answer of slow.waiting.splice(0)) answer(GOOD)
      await settled()
    }
    await Promise.all([guest, verdicts])
  })

  it('does not keep on asking one that turns out to be gone', async () => {
    const { slow, verdicts } = await burst(200)
    for (const answer of slow.waiting.splice(0)) answer(GONE)
    await settled()
    expect(slow.waiting).toEqual([])
    const given = (await verdicts).map(({ verdict, by }) => [verdict.is, by])
    expect(given).toEqual(given.map((_, i) => ['unreachable', i < 64 ? slow.url : null]))
  })
})

describe('a facilitator that checks well and settles nothing', () => {
  const unknown = (more: object): FacilitatorVerdict => ({
    is: 'unknown',
    detail: 'unknown',
    transaction: null,
    ...more,
  })
  const TRANSACTION = `0x${'ab'.repeat(32)}`

  async function selling(settle: FacilitatorVerdict) {
    const time = new TestTime()
    const slow = new Slow()
    slow.verify = async () => GOOD
    slow.settle = async () => settle
    const pool = new FacilitatorPool({ facilitators: [slow], network: NETWORK, clock: time, timers: time })
    opened.push(pool)
    await pool.start()
    const sell = async (client: string, more: Asker = {}): Promise<void> => {
      expect((await pool.verify(REQUEST)).verdict.is).toBe('good')
      await pool.settle(REQUEST, slow.url, { client, ...more })
    }
    return { time, slow, pool, sell }
  }

  it.each<FacilitatorVerdict>([
    GONE,
    unknown({ status: 500 }),
    unknown({ status: 400 }),
    unknown({}),
    { is: 'refused', reason: 'invalid_exact_evm_transaction_failed' },
    { is: 'refused', reason: 'refused' },
    { is: 'refused', reason: 'insufficient_funds_for_gas' },
    { is: 'refused', reason: 'facilitator_authorization_failed' },
  ])('is closed after three clients in a row, whatever it says to checks: %o', async (failure) => {
    const { time, slow, pool, sell } = await selling(failure)
    for (const client of ['a', 'b', 'c']) await sell(client)
    expect(pool.closedBecause).not.toBeNull()
    time.nowMs += 1_000
    slow.settle = async () => GOOD
    await sell('a')
    slow.settle = async () => failure
    for (const client of ['d', 'e']) await sell(client)
    expect(pool.closedBecause).toBeNull()
  })

  it.each<[string, FacilitatorVerdict, Asker]>([
    ['of one client, of which ten minutes count one', unknown({}), { client: 'one' }],
    ['that were sent, and may have been reverted', unknown({ transaction: TRANSACTION }), {}],
    ['that are asked for again', unknown({}), { isRepeat: true }],
    ['that the payer cannot pay', { is: 'refused', reason: 'insufficient_funds' }, {}],
    ['whose nonce is used', { is: 'refused', reason: 'invalid_exact_evm_nonce_already_used' }, {}],
  ])('stays open at settlements %s', async (_, failure, more) => {
    const { pool, sell } = await selling(failure)
    for (let i = 0; i < 10; i++) await sell(`${i}`, more)
    expect(pool.closedBecause).toBeNull()
  })

  it('stays open at failures of one client that come minute by minute, and at those of clients that come rarely', async () => {
    const { time, pool, sell } = await selling({ is: 'refused', reason: 'invalid_transaction_state' })
    for (let i = 0; i < 20; i++) {
      await sell('one')
      expect(pool.closedBecause).toBeNull()
      time.pass(60_000)
    }
    for (const client of ['a', 'b', 'c', 'd']) {
      await sell(client)
      expect(pool.closedBecause).toBeNull()
      time.pass(121_000)
    }
  })

  it('does not look well by payments that are wrong', async () => {
    const { slow, pool, sell } = await selling(unknown({}))
    for (const client of ['a', 'b']) await sell(client)
    slow.settle = async () => ({ is: 'refused', reason: 'insufficient_funds' })
    await sell('c')
    slow.settle = async () => unknown({})
    await sell('d')
    expect(pool.closedBecause).not.toBeNull()
  })

  it('is tried again after a second, however many settlements were open when it was closed', async () => {
    const { time, slow, pool } = await selling(GONE)
    await Promise.all(Array.from({ length: 20 }, () => pool.settle(REQUEST, slow.url, {})))
    expect(pool.closedBecause).not.toBeNull()
    time.nowMs += 1_000
    expect(pool.closedBecause).toBeNull()
  })
})

describe('a facilitator that wants to be asked later', () => {
  const BUSY: FacilitatorVerdict = { is: 'busy', detail: 'it is asked too often', waitMs: 3_000 }

  /** Does what the script says, request by request. After its end it answers `good`. */
  class Scripted implements Facilitator {
    readonly url: string
    asked = 0
    supported = { ok: true, answered: true, detail: 'it takes it' }
    readonly #script: FacilitatorVerdict[]

    constructor(url: string, ...script: readonly FacilitatorVerdict[]) {
      this.url = url
      this.#script = [...script]
    }

    async verify(): Promise<FacilitatorVerdict> {
      this.asked += 1
      return this.#script.shift() ?? GOOD
    }

    settle(): Promise<FacilitatorVerdict> {
      return this.verify()
    }

    async supports() {
      return this.supported
    }
  }

  async function poolOf(...facilitators: readonly Scripted[]) {
    const time = new TestTime()
    const pool = new FacilitatorPool({ facilitators, network: NETWORK, clock: time, timers: time })
    opened.push(pool)
    await pool.start()
    return { time, pool }
  }

  it.each(['verify', 'settle'] as const)('is asked again by who waits to %s, when its pause is over', async (what) => {
    const one = new Scripted('http://one', BUSY, BUSY, BUSY, BUSY)
    const { time, pool } = await poolOf(one)
    const answer = what === 'verify' ? pool.verify(REQUEST) : pool.settle(REQUEST, null)
    const asked: number[] = []
    for (let i = 0; i < 5; i++) {
      await settled()
      asked.push(one.asked)
      expect(pool.closedBecause).toBeNull()
      time.pass(2_999)
      await settled()
      asked.push(one.asked)
      time.pass(1)
    }
    expect(asked).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    expect(await answer).toEqual({ verdict: GOOD, by: one.url })
  })

  it('is not waited for by what is tried again by itself', async () => {
    const one = new Scripted('http://one', BUSY)
    const { pool } = await poolOf(one)
    const again = { isRepeat: true, isPatient: false }
    for (let i = 0; i < 3; i++) expect((await pool.settle(REQUEST, null, again)).verdict.is).toBe('busy')
    expect(one.asked).toBe(1)
  })

  it('is asked first for who settles, then for payers by their rank', async () => {
    const time = new TestTime()
    const asked: number[] = []
    const one = new Scripted('http://one', BUSY)
    const pool = new FacilitatorPool({ facilitators: [one], network: NETWORK, clock: time, timers: time })
    opened.push(pool)
    await pool.start()
    const answers: Promise<number>[] = []
    for (const rank of [5, 2, 1, 0]) {
      answers.push(pool.verify(REQUEST, { rank }).then(() => asked.push(rank)))
      await settled()
    }
    for (let passed = 0; passed < 35; passed++) {
      time.pass(100)
      await settled()
    }
    await Promise.all(answers)
    expect([asked, pool.isScarce]).toEqual([[0, 1, 2, 5], true])
    time.pass(5 * 60_000)
    expect(pool.isScarce).toBe(false)
  })

  it('leaves places to wait to who has signed, however many payments are not proven', async () => {
    const one = new Scripted('http://one', BUSY)
    const { time, pool } = await poolOf(one)
    const ask = (isProven: boolean) => pool.verify(REQUEST, { isProven, rank: RANKS.newcomer })
    const unproven = Array.from({ length: 80 }, () => ask(false))
    await settled()
    const proven = ask(true)
    for (let passed = 0; passed < 100; passed++) {
      time.pass(200)
      await settled()
    }
    await Promise.all(unproven)
    expect((await proven).verdict).toEqual(GOOD)
  })

  it('is left in peace while another can be asked, and by who comes meanwhile', async () => {
    const [one, two] = [new Scripted('http://one', BUSY), new Scripted('http://two')]
    const { time, pool } = await poolOf(one, two)
    for (let i = 0; i < 3; i++) expect(await pool.verify(REQUEST)).toEqual({ verdict: GOOD, by: two.url })
    expect([one.asked, two.asked]).toEqual([1, 3])
    time.pass(3_000)
    expect(await pool.verify(REQUEST)).toEqual({ verdict: GOOD, by: one.url })
  })

  it('is told of to who would have to wait too long, and is no less usable', async () => {
    const one = new Scripted('http://one', { ...BUSY, waitMs: 600_000 } as FacilitatorVerdict)
    const { time, pool } = await poolOf(one)
    expect((await pool.verify(REQUEST)).verdict).toMatchObject({ is: 'busy' })
    expect((await pool.verify(REQUEST)).verdict).toMatchObject({ is: 'busy' })
    expect([one.asked, pool.closedBecause]).toEqual([1, null])
    time.pass(30_000)
    expect((await pool.verify(REQUEST)).verdict).toEqual(GOOD)
  })

  it('counts as well where it says so when it is asked what it takes', async () => {
    const one = new Scripted('http://one')
    const { time, pool } = await poolOf(one)
    one.supported = { ok: false, answered: false, isBusy: true, detail: '/supported answered 429' } as never
    for (let i = 0; i < 5; i++) {
      time.pass(30_000)
      await settled()
    }
    expect(pool.closedBecause).toBeNull()
  })
})
