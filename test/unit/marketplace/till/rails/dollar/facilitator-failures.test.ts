import { afterEach, describe, expect, it } from 'vitest'
import type { Facilitator, FacilitatorVerdict } from '../../../../../../marketplace/till/rails/dollar/facilitator.ts'
import {
  type Asker,
  FacilitatorPool,
  type PoolVerdict,
} from '../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { systemTimers } from '../../../../../../src/daemon/runtime.ts'

const NETWORK = { word: 'base-sepolia', caip2: 'eip155:84532', chainId: 84_532 } as const
const REQUEST = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} } as const
const UNKNOWN: FacilitatorVerdict = { is: 'unknown', detail: 'no answer', transaction: null }
const GONE: FacilitatorVerdict = { is: 'unreachable', detail: 'it is gone' }

const opened: FacilitatorPool[] = []
afterEach(() => {
  for (const pool of opened.splice(0)) pool.stop()
})

/** A pool of one facilitator with the same answer to every check. */
async function checking(answer: FacilitatorVerdict) {
  const facilitator: Facilitator = {
    url: 'http://127.0.0.1:1',
    verify: async () => answer,
    settle: async () => answer,
    supports: async () => ({ ok: true, answered: true, detail: 'it takes it' }),
  }
  const pool = new FacilitatorPool({ facilitators: [facilitator], network: NETWORK, clock: Date, timers: systemTimers })
  opened.push(pool)
  await pool.start()
  const check = (asker: Asker): Promise<PoolVerdict> => pool.verify(REQUEST, asker)
  return { pool, check }
}

describe('a facilitator that fails at checks', () => {
  it.each<FacilitatorVerdict>([
    UNKNOWN,
    { ...UNKNOWN, status: 500 },
    { is: 'unreachable', detail: 'it answered 403', status: 403 },
  ])('of one network stays open, of several it is closed: %o', async (failure) => {
    const { pool, check } = await checking(failure)
    for (let i = 0; i < 20; i++) await check({ client: `192.0.2.${i}`, network: '192.0.2.0/24' })
    expect(pool.closedBecause).toBeNull()
    for (const network of ['203.0.113.0/24', '233.252.0.0/24']) await check({ client: 'x', network })
    expect(pool.closedBecause).not.toBeNull()
  })

  it('of payments that are not proven to be signed stays open, of others it is closed', async () => {
    const { pool, check } = await checking(UNKNOWN)
    for (let i = 0; i < 10; i++) await check({ client: `${i}`, isProven: false })
    expect(pool.closedBecause).toBeNull()
    for (let i = 0; i < 3; i++) await check({ client: `${i}`, isProven: true })
    expect(pool.closedBecause).not.toBeNull()
  })

  it('because it cannot be reached is closed by one client alone', async () => {
    const { pool, check } = await checking(GONE)
    for (let i = 0; i < 3; i++) await check({ client: 'one' })
    expect(pool.closedBecause).not.toBeNull()
  })
})
