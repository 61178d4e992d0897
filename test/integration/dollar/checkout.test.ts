import { afterEach, describe, expect, it } from 'vitest'
import type { DollarRefund } from '../../../marketplace/till/rails/dollar/claim.ts'
import { closeRails, newPayer, PRICE, paymentOf, type RailParts, TestRail } from '../../support/dollar.ts'
import type { Profile } from '../../support/dollar-facilitator.ts'
import { AGAIN, closeMarkets, ONCE } from '../../support/market.ts'
import { until } from '../../support/processes.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

describe('a call paid with an authorization', () => {
  it.each([1, 2] as const)('is verified, done, settled and answered (generation %d)', async (version) => {
    const rail = await TestRail.open()
    const outcome = await rail.settle(rail.order('ok', { payment: paymentOf(rail.payer(), {}, version) }))
    expect(outcome).toMatchObject({ ok: true, value: { replayed: false, claim: { state: 'settled', amount: '2000' } } })
    expect([rail.runs, rail.income]).toEqual([1, PRICE])
    expect(rail.facilitator.asked.map(({ path }) => path)).toEqual(['/supported', '/verify', '/settle'])
    expect(rail.dollar.sales(AGAIN)).toEqual({ calls: 1, amount: PRICE })
    expect(rail.dollar.verified).toMatchObject({ ok: true })
  })

  it('repeats its answer until it was delivered, and after that only with its idempotency key', async () => {
    const rail = await TestRail.open()
    const call = rail.order()
    const first = await rail.settle(call)
    expect(await rail.codeOf(call)).toBe('replayed')
    if (first.ok) await rail.till.handedOver(first.value.claim)
    expect(await rail.codeOf(call)).toBe('stable/delivered')
    const named = rail.order('ok:named', { idempotencyKey: 'mine' })
    const second = await rail.settle(named)
    if (second.ok) await rail.till.handedOver(second.value.claim)
    expect(await rail.codeOf(named)).toBe('replayed')
    expect(await rail.codeOf({ ...named, idempotencyKey: 'other' })).toBe('stable/delivered')
    expect([rail.runs, rail.income]).toEqual([2, 2n * PRICE])
  })

  it('answers a repeated idempotency key: the same call for free, another call with a refusal', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    const pay = () => paymentOf(payer)
    const call = rail.order('ok:a', { payment: pay(), idempotencyKey: 'name' })
    expect(await rail.codeOf(call)).toBe('settled')
    expect(await rail.codeOf({ ...call, payment: pay() })).toBe('replayed')
    expect(await rail.codeOf({ ...call, payment: pay(), request: 'ok:b' })).toBe('stable/key-used')
    const stranger = rail.order('ok:b', { idempotencyKey: 'name' })
    expect(await rail.codeOf(stranger)).toBe('settled')
    expect(rail.income).toBe(2n * PRICE)
    const again = await rail.restart()
    await until('the store was read', () => again.dollar.sales(AGAIN).calls === 2)
    expect(await again.codeOf({ ...call, payment: pay(), request: 'ok:b' })).toBe('stable/key-used')
  })

  it('is one run and one settlement for twenty callers at once', async () => {
    const rail = await TestRail.open()
    const call = rail.order('slow:200')
    const codes = await Promise.all(Array.from({ length: 20 }, () => rail.codeOf(call)))
    expect(codes.sort()).toEqual([...new Array(19).fill('replayed'), 'settled'])
    expect([rail.runs, rail.income, rail.facilitator.count('/settle')]).toEqual([1, PRICE, 1])
  })

  it('is refused for another request, service or signature, and nothing runs', async () => {
    const rail = await TestRail.open()
    const call = rail.order()
    await rail.settle(call)
    expect(await rail.codeOf({ ...call, request: 'ok:other' })).toBe('stable/used')
    expect(await rail.codeOf({ ...call, serviceId: ONCE })).toBe('stable/used')
    const { payment } = call
    const forged = { ...payment.authorization, signature: `0x${'12'.repeat(64)}1b` }
    expect(await rail.codeOf({ ...call, payment: { ...payment, authorization: forged } })).toBe('stable/used')
    expect(rail.runs).toBe(1)
  })

  it('charges nothing for unusable text, a closed service or one that fails', async () => {
    const rail = await TestRail.open()
    const call = rail.order('refuse')
    expect(await rail.codeOf(call)).toBe('service/invalid-request')
    expect(await rail.codeOf({ ...call, serviceId: 'node-test-closed', request: 'ok' })).toBe('service/unavailable')
    expect(await rail.codeOf({ ...call, request: 'ok' })).toBe('settled')
    const failing = rail.order('fail', { serviceId: ONCE })
    expect([await rail.codeOf(failing), await rail.codeOf(failing)]).toEqual(['service/failed', 'service/failed'])
    expect([rail.runs, rail.income, rail.facilitator.count('/settle')]).toEqual([2, PRICE, 1])
  })

  it.each([
    ['a unit less', { value: PRICE - 1n }, 'pay/no-offer'],
    ['a unit more', { value: PRICE + 1n }, 'pay/no-offer'],
    ['another payee', { to: `0x${'ee'.repeat(20)}` }, 'pay/no-offer'],
    ['time that has run out', { validBefore: 1n }, 'stable/refused'],
    ['time too short for the work', { validBefore: BigInt(Math.floor(Date.now() / 1_000) + 20) }, 'stable/refused'],
    ['time that has not come', { validAfter: 1n << 60n }, 'stable/refused'],
    ['time without end', { validBefore: 1n << 200n }, 'stable/refused'],
    ['time for an hour', { validBefore: BigInt(Math.floor(Date.now() / 1_000) + 3_600) }, 'stable/refused'],
  ] as const)('is refused for %s before the facilitator is asked', async (_, change, code) => {
    const rail = await TestRail.open()
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(rail.payer(), change) }))).toBe(code)
    expect([rail.runs, rail.facilitator.count('/verify'), await rail.claim()]).toEqual([0, 0, undefined])
  })

  it('is refused by the facilitator for a payer without money, and leaves nothing behind', async () => {
    const rail = await TestRail.open()
    const call = rail.order('ok', { payment: paymentOf(newPayer()) })
    expect(await rail.settle(call)).toMatchObject({
      fault: { code: 'stable/refused', detail: { reason: 'invalid_exact_evm_insufficient_balance' } },
    })
    expect([rail.runs, await rail.claim()]).toEqual([0, undefined])
  })
})

describe('a facilitator in trouble', () => {
  it.each(['html', '500', 'deaf'] as const)(
    '%s at verification: a 503, nothing used, and it works later',
    async (profile) => {
      const rail = await TestRail.open()
      const call = rail.order()
      rail.facilitator.profile = profile
      expect(await rail.codeOf(call)).toBe('stable/facilitator')
      expect([rail.runs, await rail.claim()]).toEqual([0, undefined])
      rail.facilitator.profile = 'good'
      expect(await rail.codeOf(call)).toBe('settled')
    },
  )

  it('that is down: the next one is asked', async () => {
    const rail = await TestRail.open({ facilitators: 2 })
    await rail.facilitator.close()
    expect(await rail.codeOf(rail.order())).toBe('settled')
    expect(rail.facilitators[1]?.count('/settle')).toBe(1)
  })

  it('that is down for long: the rail says so until it is back', async () => {
    const rail = await TestRail.open()
    await rail.facilitator.close()
    for (let i = 0; i < 3; i++) expect(await rail.codeOf(rail.order())).toBe('stable/facilitator')
    expect(rail.dollar.closedBecause).not.toBeNull()
    await rail.facilitator.open()
    await until('it is tried again', () => rail.dollar.closedBecause === null)
    expect(await rail.codeOf(rail.order())).toBe('settled')
    expect(rail.dollar.facilitators).toMatchObject([{ healthy: true }])
  })

  it('that lies: the unpaid work is not done again, and is paid once it settles', async () => {
    const rail = await TestRail.open()
    const call = rail.order()
    rail.facilitator.profile = 'lying'
    expect(await rail.codeOf(call)).toBe('stable/refused')
    expect(await rail.codeOf(call)).toBe('stable/refused')
    rail.facilitator.profile = 'good'
    expect(await rail.codeOf(call)).toBe('settled')
    expect([rail.runs, rail.income]).toEqual([1, PRICE])
  })

  it('that lies about one payer again and again: that payer gets no more work, others do', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    rail.facilitator.profile = 'lying'
    rail.facilitator.words = 'invalid_exact_evm_insufficient_balance'
    for (let i = 0; i < 8; i++) await rail.settle(rail.order('ok', { payment: paymentOf(payer) }))
    expect(rail.runs).toBe(5)
    rail.facilitator.profile = 'good'
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(payer) }))).toBe('stable/refused')
    expect(await rail.codeOf(rail.order())).toBe('settled')
  })

  it.each(['invalid_exact_evm_transaction_failed', 'insufficient funds for gas * price + value'])(
    'unable to settle (%s): the next one does, and the payer is not blamed',
    async (words) => {
      const rail = await TestRail.open({ facilitators: 2 })
      const payer = rail.payer()
      for (const one of rail.facilitators) [one.settleProfile, one.words] = ['lying', words]
      const calls = Array.from({ length: 7 }, () => rail.order('ok', { payment: paymentOf(payer) }))
      for (const call of calls) expect(await rail.codeOf(call)).toBe('stable/refused')
      expect(rail.runs).toBe(7)
      rail.facilitators[1]!.settleProfile = null
      for (const call of calls) expect(await rail.codeOf(call)).toBe('settled')
      expect(rail.income).toBe(7n * PRICE)
    },
  )

  it('that cannot settle: one payer has it tried a few times, and failures of three clients close it', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    rail.facilitator.settleProfile = 'lying'
    const order = () => rail.order('ok', { payment: paymentOf(payer), client: '192.0.2.1', network: '192.0.2.0/24' })
    const call = order()
    for (let i = 0; i < 20; i++) expect(await rail.codeOf(call)).toBe('stable/refused')
    for (let i = 0; i < 14; i++) await rail.settle(order())
    expect([rail.runs, rail.dollar.closedBecause]).toEqual([11, null])
    expect([await rail.codeOf(call), rail.facilitator.count('/settle')]).toEqual(['stable/failing', 30])
    for (const client of ['198.51.100.1', '203.0.113.1'])
      await rail.settle(rail.order('ok', { client, network: client }))
    expect(rail.dollar.closedBecause).not.toBeNull()
  })

  it.each(['lost', 'gone', 'html', 'deaf', '500'] as const)(
    '%s at settlement: never a second payment, and the answer in the end',
    async (profile) => {
      const rail = await TestRail.open()
      const call = rail.order()
      rail.facilitator.settleProfile = profile
      const first = await rail.codeOf(call)
      // If the chain shows the payment at once, the call is answered at once.
      expect(['stable/unsettled', ...(profile === 'gone' ? ['settled'] : [])]).toContain(first)
      rail.facilitator.settleProfile = null
      await rail.reaches('settled')
      expect(await rail.codeOf(call)).toBe('replayed')
      expect([rail.runs, rail.income, rail.token.uses.length]).toEqual([1, PRICE, 1])
    },
  )

  it('that says "pending": it is asked once more, and the payment is found on the chain', async () => {
    const rail = await TestRail.open()
    const call = rail.order()
    rail.facilitator.settleProfile = 'pending'
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    expect(rail.facilitator.count('/settle')).toBe(2)
    await rail.reaches('settled')
    expect([rail.runs, rail.income]).toEqual([1, PRICE])
  })

  it('without a node of the chain: a settlement with a lost answer stays unknown and never becomes a quote', async () => {
    const rail = await TestRail.open({ hasLedger: false, settleWaitMs: 300 })
    const call = rail.order()
    rail.facilitator.settleProfile = 'lost'
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    rail.facilitator.settleProfile = null
    await until('it was asked again', () => rail.facilitator.count('/settle') > 2)
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    expect(rail.dollar.figures.unknown).toBe(1)
  })
})

describe('a node that dies', () => {
  it('with work under way does it again if that does no harm', async () => {
    const rail = await TestRail.open()
    rail.market.workbench.hold()
    const call = rail.order('ok:again')
    void rail.settle(call)
    await rail.reaches('executing')
    const again = await rail.restart()
    expect(await again.codeOf(call)).toBe('replayed')
    expect([again.runs, again.income]).toEqual([2, PRICE])
  })

  it('with work under way that must not be repeated charges nothing', async () => {
    const rail = await TestRail.open()
    rail.market.workbench.hold()
    const call = rail.order('ok:once', { serviceId: ONCE })
    void rail.settle(call)
    await rail.reaches('executing')
    const again = await rail.restart()
    await again.reaches('unpaid')
    expect(await again.codeOf(call)).toBe('service/interrupted')
    expect([again.runs, again.income]).toEqual([1, 0n])
  })

  it('with a settlement under way finds out how it ended', async () => {
    const rail = await TestRail.open()
    const call = rail.order()
    rail.facilitator.settleProfile = 'lost'
    expect(await rail.codeOf(call)).toBe('stable/unsettled')
    const again = await rail.restart()
    await again.reaches('settled')
    expect(await again.codeOf(call)).toBe('replayed')
    expect([again.runs, again.income]).toEqual([1, PRICE])
  })
})

describe('money that comes without a delivery', () => {
  /** A rail that owes a refund. The facilitator's behaviour is set before the restart, because the node may pay back at once. */
  async function owing(settleProfile: Profile | null = null, parts: RailParts = {}) {
    const rail = await TestRail.open(parts)
    const call = rail.order('fail', { serviceId: ONCE })
    expect(await rail.codeOf(call)).toBe('service/failed')
    const { from, to, value, validAfter, validBefore, nonce, signature } = call.payment.authorization
    const said = { from, to, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}`, nonce }
    expect(rail.token.transfer(said, signature)).toHaveProperty('transaction')
    rail.facilitator.settleProfile = settleProfile
    const before = rail.token.balance(from)
    return { rail: await rail.restart(), call, before }
  }

  /** Waits until the only refund has this status. */
  function refundIs(status: DollarRefund['status'], rail: TestRail): Promise<DollarRefund> {
    return until(`the refund is ${status}`, async () => {
      const claim = await rail.claim()
      return claim?.state === 'owed' && claim.refund.status === status ? claim.refund : null
    })
  }

  it('is paid back, once, with an authorization of our own', async () => {
    const { rail, call, before } = await owing()
    const { from } = call.payment.authorization
    await refundIs('paid', rail)
    expect(rail.token.balance(from) - before).toBe(PRICE)
    expect(await rail.codeOf(call)).toBe('stable/owed')
    const again = await rail.restart()
    expect([again.token.balance(from) - before, again.dollar.figures.refundsOwed]).toEqual([PRICE, 0])
  })

  it('is paid back once if the answer to the refund was lost', async () => {
    const { rail, call, before } = await owing('lost')
    const { from } = call.payment.authorization
    await refundIs('sent', rail)
    rail.facilitator.settleProfile = null
    await until('it is known', async () => (await refundIs('paid', rail)).transaction !== null)
    expect(rail.token.balance(from) - before).toBe(PRICE)
  })

  it('is paid back once if the answer was lost and another wallet pays refunds since then', async () => {
    const { rail, call, before } = await owing('lost')
    const { from } = call.payment.authorization
    await until('it was carried out', () => rail.token.balance(from) > before)
    const refunder = rail.payer()
    const again = await rail.restart({ refunder })
    again.facilitator.settleProfile = null
    const refund = await refundIs('paid', again)
    expect(again.token.balance(from) - before).toBe(PRICE)
    expect(again.token.uses.some((use) => use.from === refunder.address)).toBe(false)
    expect(refund).toMatchObject({ from: rail.treasury.address })
  })

  it('is not paid by another wallet while an authorization of the old wallet may still be carried out', async () => {
    const { rail, call, before } = await owing('deaf')
    const { from } = call.payment.authorization
    await refundIs('sent', rail)
    const again = await rail.restart({ refunder: rail.payer() })
    again.facilitator.settleProfile = null
    await until('it is told', () => again.faults.some(({ code }) => code === 'stable/refund-refused'))
    expect(again.token.balance(from)).toBe(before)
    const home = await again.restart({ refunder: rail.treasury })
    await until('it is paid back', () => home.token.balance(from) - before === PRICE)
  })

  it('stays owed if a facilitator complains about its own nonce', async () => {
    const { rail, call, before } = await owing('stuck')
    const { from } = call.payment.authorization
    await until('it was refused', () => rail.faults.some(({ code }) => code === 'stable/refund-refused'))
    expect(rail.token.balance(from)).toBe(before)
    expect(rail.dollar.figures.refundsOwed).toBe(1)
    rail.facilitator.settleProfile = null
    await until('it is paid back', () => rail.token.balance(from) - before === PRICE)
  })

  it('waits for the operator if there is no refund key, and is reported', async () => {
    const { rail } = await owing(null, { hasRefundKey: false })
    await rail.reaches('owed')
    // A fault is on disk before it is reported.
    await until('it is told of', () => rail.faults.length > 0)
    expect(rail.faults.map(({ code }) => code)).toEqual(['stable/refund-waits'])
    expect(rail.dollar.figures.refundsOwed).toBe(1)
  })
})
