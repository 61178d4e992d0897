import { afterEach, describe, expect, it } from 'vitest'
import type { Timers } from '../../../consensus/chain/ports.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { closeRails, PRICE, TestRail } from '../../support/dollar.ts'
import type { Profile } from '../../support/dollar-facilitator.ts'
import { AGAIN, closeMarkets, ONCE } from '../../support/market.ts'
import { until } from '../../support/processes.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** Timers run 500 times as fast: these tests are not about how often the chain is asked. */
const HASTY: Timers = { after: (ms, callback) => systemTimers.after(ms / 500, callback) }
const HOUR_MS = 3_600_000

/** A rail whose clock the test moves. */
async function open() {
  const time = { aheadMs: 0 }
  const clock = { now: () => Date.now() + time.aheadMs }
  return { rail: await TestRail.open({ timers: HASTY, clock, settleWaitMs: 200 }), time }
}

/** Waits until the node of the chain was asked several more times about authorizations. */
async function looks({ token }: TestRail): Promise<void> {
  const count = (): number => token.asked.filter((method) => method === 'eth_call').length
  const before = count()
  await until('the chain was asked', () => count() > before + 5)
}

/** Carries the payment of a call out. */
function carryOut(rail: TestRail, { payment: { authorization } }: ReturnType<TestRail['order']>): void {
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization
  const said = { from, to, nonce, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
  expect(rail.token.transfer(said, signature)).toHaveProperty('transaction')
}

describe('a stuck node of the chain', () => {
  it('does not end a settlement whose answer was lost: the money came', async () => {
    const { rail, time } = await open()
    rail.token.standStill()
    rail.facilitator.settleProfile = 'lost'
    const call = rail.order()
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    rail.facilitator.settleProfile = null
    time.aheadMs = HOUR_MS
    await looks(rail)
    expect([await rail.codeOf(call), (await rail.claim())?.state]).toEqual(['stable/unsettled', 'settling'])
    rail.token.catchUp()
    await rail.reaches('settled')
    expect([await rail.codeOf(call), rail.runs, rail.income]).toEqual(['replayed', 1, PRICE])
  })

  it('does not make us forget a refused payment that was carried out after all', async () => {
    const { rail, time } = await open()
    rail.token.standStill()
    rail.facilitator.settleProfile = 'lying'
    const call = rail.order()
    expect(await rail.codeOf(call)).toBe('stable/refused')
    carryOut(rail, call)
    time.aheadMs = HOUR_MS
    await looks(rail)
    expect(await rail.claim()).toMatchObject({ state: 'unpaid', over: false })
    rail.token.catchUp()
    await rail.reaches('settled')
    expect(await rail.codeOf(call)).toBe('replayed')
  })

  it('does not make a payer pay again for an authorization that a facilitator calls used', async () => {
    const { rail } = await open()
    rail.token.standStill()
    rail.facilitator.settleProfile = 'gone'
    const call = rail.order()
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    rail.facilitator.settleProfile = null
    await looks(rail)
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    rail.token.catchUp()
    await rail.reaches('settled')
    expect([await rail.codeOf(call), rail.runs, rail.income]).toEqual(['replayed', 1, PRICE])
  })

  it('does not accuse a facilitator, and takes no sale back', async () => {
    const { rail, time } = await open()
    rail.token.standStill()
    for (let i = 0; i < 3; i++) expect(await rail.codeOf(rail.order())).toBe('settled')
    time.aheadMs = HOUR_MS
    await looks(rail)
    expect(rail.dollar.figures.arrivals).toEqual({ seen: 0, missing: 0, unknown: 0, waiting: 3 })
    expect([rail.faults, rail.dollar.sales(AGAIN).calls]).toEqual([[], 3])
    rail.token.catchUp()
    await until('all were found', () => rail.dollar.figures.arrivals?.seen === 3)
    expect(rail.faults).toEqual([])
  })
})

describe('a facilitator that wrongly calls an authorization used', () => {
  it('is believed until the chain has shown otherwise for a while; then the same call settles it', async () => {
    const { rail, time } = await open()
    rail.token.standStill()
    rail.facilitator.settleProfile = 'lying'
    rail.facilitator.words = 'invalid_exact_evm_nonce_already_used'
    const call = rail.order()
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    time.aheadMs = 30_000
    await looks(rail)
    expect((await rail.claim())?.state).toBe('settling')
    rail.token.catchUp()
    const reason = rail.facilitator.words
    expect(await rail.reaches('unpaid')).toMatchObject({ reason: 'stable/refused', detail: { reason }, over: false })
    rail.facilitator.settleProfile = null
    expect([await rail.codeOf(call), rail.runs, rail.income]).toEqual(['settled', 1, PRICE])
  })
})

describe('a refund that another wallet is to pay', () => {
  /** A refund that the old wallet sent and whose authorization has expired. */
  async function sent(settleProfile: Profile, stands: boolean) {
    const { rail, time } = await open()
    const call = rail.order('fail', { serviceId: ONCE })
    expect(await rail.codeOf(call)).toBe('service/failed')
    carryOut(rail, call)
    if (stands) rail.token.standStill()
    const { from } = call.payment.authorization
    const before = rail.token.balance(from)
    rail.facilitator.settleProfile = settleProfile
    const owing = await rail.restart()
    await until('the refund is sent', async () => {
      const claim = await owing.claim()
      return claim?.state === 'owed' && claim.refund.status === 'sent' && owing.facilitator.count('/settle') > 0
    })
    const refunder = rail.payer()
    time.aheadMs = HOUR_MS
    const again = await owing.restart({ refunder })
    again.facilitator.settleProfile = null
    return { rail: again, refunder, backOf: () => again.token.balance(from) - before }
  }

  it('is paid once if the node of the chain has been stuck since before', async () => {
    const { rail, refunder, backOf } = await sent('lost', true)
    const waits = (): number => rail.faults.filter(({ code }) => code === 'stable/refund-refused').length
    await until('it waits', () => waits() > 2)
    expect(backOf()).toBe(PRICE)
    rail.token.catchUp()
    await until('it is known', () => rail.dollar.figures.refundsOwed === 0)
    expect([backOf(), rail.token.uses.some(({ from }) => from === refunder.address)]).toEqual([PRICE, false])
  })

  it('is paid by that wallet once the chain has shown that the old authorization has expired', async () => {
    const { rail, refunder, backOf } = await sent('deaf', false)
    await until('it is paid back', () => rail.dollar.figures.refundsOwed === 0)
    expect([backOf(), rail.token.uses.some(({ from }) => from === refunder.address)]).toEqual([PRICE, true])
  })
})
