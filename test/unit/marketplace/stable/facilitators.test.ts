import { afterEach, describe, expect, it } from 'vitest'
import type { Facilitator, FacilitatorVerdict } from '../../../../marketplace/stable/facilitator.ts'
import { FacilitatorPool } from '../../../../marketplace/stable/facilitators.ts'
import { systemTimers } from '../../../../src/runtime.ts'

const NETWORK = { word: 'base-sepolia', caip2: 'eip155:84532', chainId: 84_532 } as const
const REQUEST = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} } as const
const GOOD: FacilitatorVerdict = { is: 'good', payer: null, transaction: null }
const GONE: FacilitatorVerdict = { is: 'unreachable', detail: 'it is gone' }

/** A facilitator whose answers are given by hand. */
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
/** Everything that is ready to go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const burst = async (calls: number) => {
  const slow = new Slow()
  const pool = new FacilitatorPool({ facilitators: [slow], network: NETWORK, clock: Date, timers: systemTimers })
  opened.push(pool)
  await pool.start()
  const verdicts = Promise.all(Array.from({ length: calls }, () => pool.verify(REQUEST)))
  await settled()
  return { slow, verdicts }
}

describe('a burst of calls', () => {
  it('asks a facilitator 64 at a time, and everybody gets an answer', async () => {
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

  it('does not keep on asking one that turns out to be gone', async () => {
    const { slow, verdicts } = await burst(200)
    for (const answer of slow.waiting.splice(0)) answer(GONE)
    await settled()
    expect(slow.waiting).toEqual([])
    const given = (await verdicts).map(({ verdict, by }) => [verdict.is, by])
    expect(given).toEqual(given.map((_, i) => ['unreachable', i < 64 ? slow.url : null]))
  })
})
