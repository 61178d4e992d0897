import { afterEach, describe, expect, it } from 'vitest'
import type { Timers } from '../../../consensus/chain/ports.ts'
import { systemTimers } from '../../../src/daemon/runtime.ts'
import { closeRails, PRICE, type RailParts, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets } from '../../support/market.ts'
import { until } from '../../support/processes.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** Timers run 500 times as fast: these tests are not about how often the chain is asked. */
const HASTY: Timers = { after: (ms, callback) => systemTimers.after(ms / 500, callback) }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A rail whose clock the test moves. */
async function open(parts: RailParts = {}) {
  const time = { aheadMs: 0 }
  const clock = { now: () => Date.now() + time.aheadMs }
  return { rail: await TestRail.open({ timers: HASTY, clock, ...parts }), time }
}

/** Counts of the chain's verdicts on payments. Payments still waited for are not in them. */
function verdicts({ dollar }: TestRail) {
  const { seen, missing, unknown } = dollar.figures.arrivals as NonNullable<typeof dollar.figures.arrivals>
  return { seen, missing, unknown }
}

describe('a payment that a facilitator reports', () => {
  it('is searched on the chain with one question, and found', async () => {
    const { rail } = await open()
    expect(await rail.codeOf(rail.order())).toBe('settled')
    await until('it was looked for', () => verdicts(rail).seen === 1)
    expect(verdicts(rail)).toEqual({ seen: 1, missing: 0, unknown: 0 })
    expect(rail.token.asked).toEqual(['eth_chainId', 'balanceOf', 'eth_getTransactionReceipt'])
    expect([rail.faults, rail.dollar.figures.arrivals?.waiting]).toEqual([[], 0])
  })

  it('counts as paid until its authorization has expired unused; then the operator is told, once', async () => {
    const { rail, time } = await open()
    rail.facilitator.settleProfile = 'pretends'
    const call = rail.order()
    const outcome = await rail.settle(call)
    expect(outcome.ok).toBe(true)
    if (outcome.ok) await rail.till.handedOver(outcome.value.claim)
    await until('the chain was asked', () => rail.token.asked.filter((method) => method === 'eth_call').length > 1)
    expect([rail.faults, rail.dollar.sales(AGAIN)]).toEqual([[], { calls: 1, amount: PRICE }])
    time.aheadMs = HOUR_MS
    await until('it is missing', () => verdicts(rail).missing === 1)
    const { authorization } = call.payment
    const detail = { facilitator: rail.facilitator.url, payer: authorization.from, transaction: authorization.nonce }
    expect(rail.faults).toMatchObject([{ code: 'stable/not-arrived', detail }])
    expect(await rail.claim()).toMatchObject({ state: 'settled', report: { isMissing: true } })
    expect(rail.dollar.sales(AGAIN)).toEqual({ calls: 0, amount: 0n })
    // A delivered answer is not given a second time.
    expect(await rail.codeOf(call)).toBe('stable/delivered')
    const again = await rail.restart()
    expect(again.dollar.figures.arrivals?.waiting).toBe(0)
    expect(again.dollar.sales(AGAIN)).toEqual({ calls: 0, amount: 0n })
  })

  it('counts as missing at once if its authorization was used for something else', async () => {
    const { rail } = await open()
    rail.facilitator.settleProfile = 'pretends'
    const call = rail.order()
    const { from, nonce } = call.payment.authorization
    expect(await rail.codeOf(call)).toBe('settled')
    rail.token.cancel(from, nonce)
    await until('it is missing', () => verdicts(rail).missing === 1)
    expect(rail.faults.map(({ code }) => code)).toEqual(['stable/not-arrived'])
  })

  it('is found even if the facilitator names an invalid transaction', async () => {
    const { rail } = await open()
    rail.facilitator.settleProfile = 'pretends'
    const call = rail.order()
    expect(await rail.codeOf(call)).toBe('settled')
    const { from, to, value, validAfter, validBefore, nonce, signature } = call.payment.authorization
    const said = { from, to, nonce, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
    expect(rail.token.transfer(said, signature)).toHaveProperty('transaction')
    await until('it was found', () => verdicts(rail).seen === 1)
    expect(rail.faults).toEqual([])
  })

  it('is searched again after a crash', async () => {
    const { rail, time } = await open({ timers: { after: () => () => {} } })
    rail.facilitator.settleProfile = 'pretends'
    expect(await rail.codeOf(rail.order())).toBe('settled')
    time.aheadMs = HOUR_MS
    const again = await rail.restart({ timers: HASTY })
    await until('it is missing', () => verdicts(again).missing === 1)
    await until('it is no sale', () => again.dollar.sales(AGAIN).calls === 0)
  })

  it('is reported as unknown if the chain cannot be asked for days', async () => {
    const { rail, time } = await open()
    rail.token.isDown = true
    expect(await rail.codeOf(rail.order())).toBe('settled')
    time.aheadMs = DAY_MS
    await until('it is waited for', () => rail.dollar.figures.arrivals?.waiting === 1)
    expect(verdicts(rail)).toEqual({ seen: 0, missing: 0, unknown: 0 })
    time.aheadMs = 3 * DAY_MS
    await until('the seller asks no more', () => verdicts(rail).unknown === 1)
    expect(rail.faults.map(({ code }) => code)).toEqual(['stable/not-arrived'])
    expect(rail.dollar.sales(AGAIN)).toEqual({ calls: 1, amount: PRICE })
  })

  it('is believed without a node of the chain', async () => {
    const { rail } = await open({ hasLedger: false })
    expect(await rail.codeOf(rail.order())).toBe('settled')
    expect(rail.dollar.figures.arrivals).toBeNull()
  })
})
