import { afterEach, describe, expect, it } from 'vitest'
import type { Facilitator, FacilitatorVerdict } from '../../../../../../marketplace/till/rails/dollar/facilitator.ts'
import {
  FacilitatorPool,
  type PoolVerdict,
  RANKS,
} from '../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { TestTime } from '../../../../../support/market-parts.ts'

const NETWORK = { word: 'base-sepolia', caip2: 'eip155:84532', chainId: 84_532 } as const
const REQUEST = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} } as const
const GOOD: FacilitatorVerdict = { is: 'good', payer: null, transaction: null }

const opened: FacilitatorPool[] = []
afterEach(() => {
  for (const pool of opened.splice(0)) pool.stop()
})
/** Waits until all ready callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a facilitator that allows so much a minute', () => {
  const PER_MINUTE = 60
  const MINUTE_MS = 60_000

  /** Counts requests in minutes that begin with a request, as many facilitators do. */
  class Metered implements Facilitator {
    readonly url = 'http://metered'
    readonly #time: TestTime
    #sinceMs = Number.NEGATIVE_INFINITY
    #count = 0

    constructor(time: TestTime) {
      this.#time = time
    }

    async verify(): Promise<FacilitatorVerdict> {
      const now = this.#time.now()
      if (now - this.#sinceMs >= MINUTE_MS) [this.#sinceMs, this.#count] = [now, 0]
      if (this.#count === PER_MINUTE)
        return { is: 'busy', detail: 'it is asked too often', waitMs: this.#sinceMs + MINUTE_MS - now }
      this.#count += 1
      return GOOD
    }

    settle(): Promise<FacilitatorVerdict> {
      return this.verify()
    }

    async supports() {
      return { ok: true, answered: true, detail: 'it takes it' }
    }
  }

  it('answers payers who have paid lately, however many addresses newcomers come from', async () => {
    const time = new TestTime()
    const pool = new FacilitatorPool({
      facilitators: [new Metered(time)],
      network: NETWORK,
      clock: time,
      timers: time,
    })
    opened.push(pool)
    await pool.start()
    const told: Promise<PoolVerdict>[] = []
    let newcomers = 0
    for (let second = 0; second < 240; second++) {
      for (let i = 0; i < 5; i++)
        void pool.verify(REQUEST, { client: `${second} ${i}`, rank: RANKS.newcomer }).then(({ verdict }) => {
          if (second >= 60 && verdict.is === 'good') newcomers += 1
        })
      if (second >= 60 && second % 5 === 0) told.push(pool.verify(REQUEST, { client: 'payer', rank: RANKS.payer }))
      await settled()
      time.pass(1_000)
      await settled()
    }
    time.pass(MINUTE_MS)
    const verdicts = (await Promise.all(told)).map(({ verdict }) => verdict.is)
    expect(new Set(verdicts)).toEqual(new Set(['good']))
    // Newcomers get what known payers do not use.
    expect(newcomers).toBeGreaterThan(PER_MINUTE)
  })

  it('answers settlements that are tried again, however many newcomers wait', async () => {
    const time = new TestTime()
    const metered = new Metered(time)
    const pool = new FacilitatorPool({ facilitators: [metered], network: NETWORK, clock: time, timers: time })
    opened.push(pool)
    await pool.start()
    const again: Promise<PoolVerdict>[] = []
    for (let second = 0; second < 180; second++) {
      for (let i = 0; i < 5; i++) void pool.verify(REQUEST, { client: `${second} ${i}`, rank: RANKS.newcomer })
      if (second >= 60 && second % 10 === 0)
        again.push(pool.settle(REQUEST, metered.url, { isRepeat: true, isPatient: false }))
      await settled()
      time.pass(1_000)
      await settled()
    }
    time.pass(MINUTE_MS)
    const good = (await Promise.all(again)).filter(({ verdict }) => verdict.is === 'good')
    expect(good.length).toBe(12)
  })

  it('answers them and new settlements, however many are tried again', async () => {
    const time = new TestTime()
    const metered = new Metered(time)
    const pool = new FacilitatorPool({ facilitators: [metered], network: NETWORK, clock: time, timers: time })
    opened.push(pool)
    await pool.start()
    const told: Promise<PoolVerdict>[] = []
    for (let second = 0; second < 240; second++) {
      for (let i = 0; i < 5; i++) void pool.settle(REQUEST, metered.url, { isRepeat: true })
      if (second >= 60 && second % 5 === 0) {
        told.push(pool.verify(REQUEST, { client: 'payer', rank: RANKS.payer }))
        if (second % 10 === 0) told.push(pool.settle(REQUEST, metered.url))
      }
      await settled()
      time.pass(1_000)
      await settled()
    }
    time.pass(MINUTE_MS)
    const verdicts = (await Promise.all(told)).map(({ verdict }) => verdict.is)
    expect(new Set(verdicts)).toEqual(new Set(['good']))
  })
})
