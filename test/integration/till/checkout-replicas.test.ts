import { afterEach, describe, expect, it } from 'vitest'
import { OUTCOME_DELIVERED, OUTCOME_FAILED } from '../../../consensus/tx/payloads.ts'
import type { FinishedClaim } from '../../../marketplace/till/rails/native/claim.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket, type TestPayment } from '../../support/market.ts'

afterEach(closeMarkets)

/** Two replicas. The first works on a call, and its work is held. */
async function atWork(serviceId: string) {
  const first = await TestMarket.open()
  const payment = await first.pay('ok', { serviceId })
  const second = await first.replica()
  first.workbench.hold()
  const answer = first.settle(payment)
  await first.quiet()
  expect(first.workbench.begun.length).toBe(1)
  return { first, second, payment, answer }
}

/** Outcomes in the receipts that both replicas sent. */
async function outcomesPosted(markets: readonly TestMarket[], { txId }: TestPayment): Promise<readonly number[]> {
  for (const market of markets) await market.pass(500)
  return markets.flatMap(({ waitingEntries }) =>
    waitingEntries.filter((entry) => entry.txId === txId).map(({ outcome }) => outcome),
  )
}

async function claimOf({ store }: TestMarket, { txId }: TestPayment): Promise<FinishedClaim> {
  return (await store.get(txId)) as FinishedClaim
}

describe('a call that another replica ended meanwhile', () => {
  it('is answered as it was ended, and owed as it was ended: given back', async () => {
    const { first, second, payment, answer } = await atWork(ONCE)
    // The second replica starts and believes that the call was interrupted.
    await second.till.resume()
    await second.quiet()
    expect(await claimOf(second, payment)).toMatchObject({ state: 'failed', reason: 'service/interrupted' })
    first.workbench.release()
    expect(await answer).toEqual({ ok: true, value: { claim: await claimOf(first, payment), replayed: false } })
    expect(await claimOf(first, payment)).toMatchObject({ state: 'failed', reason: 'service/interrupted' })
    expect([first.settler.owedCount, second.settler.owedCount]).toEqual([0, 1])
    expect(await outcomesPosted([first, second], payment)).toEqual([OUTCOME_FAILED])
    await second.mineWaiting()
    expect(second.closure(payment)).toMatchObject({ how: 'failed' })
  })

  it('is answered as it was ended, and owed as it was ended: delivered', async () => {
    const { first, second, payment, answer } = await atWork(AGAIN)
    await second.till.resume()
    await second.quiet()
    // Repeatable work is done again; the second replica is faster.
    expect(second.workbench.begun).toEqual([`${AGAIN} ok`])
    first.workbench.release()
    expect(await answer).toMatchObject({ ok: true, value: { claim: await claimOf(first, payment) } })
    expect(await claimOf(first, payment)).toMatchObject({ state: 'delivered', result: '{"echo":"ok"}' })
    expect([first.settler.owedCount, second.settler.owedCount]).toEqual([0, 1])
    expect(await outcomesPosted([first, second], payment)).toEqual([OUTCOME_DELIVERED])
  })

  it('is not refunded to a caller that has its result: the first end counts', async () => {
    const { first, second, payment, answer } = await atWork(ONCE)
    // The work ends after the second replica decided to give up and before it wrote that.
    second.store.beforeAdvance = async (next) => {
      if (next.state !== 'failed') return
      first.workbench.release()
      await answer
    }
    await second.till.resume()
    await answer
    await first.quiet()
    expect(await answer).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
    expect(await claimOf(first, payment)).toMatchObject({ state: 'delivered' })
    expect([first.settler.owedCount, second.settler.owedCount]).toEqual([1, 0])
    expect(await outcomesPosted([first, second], payment)).toEqual([OUTCOME_DELIVERED])
  })
})

describe('a call that waits for its turn while another replica takes it up', () => {
  it('is not started twice, and its caller is told to come back', async () => {
    const first = await TestMarket.open()
    const payments: TestPayment[] = []
    for (let i = 0; i < 17; i++) payments.push(await first.order(`ok:${i}`))
    await first.mine(payments.map(({ tx }) => tx))
    first.workbench.hold()
    const answers = payments.map((payment) => first.settle(payment))
    await first.quiet()
    const claims = await Promise.all(payments.map(({ txId }) => first.store.get(txId)))
    const last = claims.findIndex((claim) => claim?.state === 'claimed')
    const { txId, request } = payments[last] as TestPayment
    const second = await first.replica()
    second.workbench.hold()
    await second.till.resume()
    await second.quiet()
    expect(second.workbench.begun).toEqual([`${ONCE} ${request}`])
    first.workbench.release()
    expect(await answers[last]).toEqual({
      ok: false,
      fault: { code: 'pay/unconfirmed', detail: { txId, confirmations: 1, needed: 1 } },
    })
    expect(first.workbench.begun).not.toContain(`${ONCE} ${request}`)
    second.workbench.release()
    await second.quiet()
    expect(await first.store.get(txId)).toMatchObject({ state: 'delivered' })
  })
})

describe('a payment that two replicas are offered at once', () => {
  it('is worked on by one of them, and both answer the same', async () => {
    const first = await TestMarket.open()
    const second = await first.replica()
    const payment = await first.pay('ok')
    const answers = [first.settle(payment), second.settle(payment)]
    for (let i = 0; i < 3; i++) for (const market of [first, second]) await market.pass(100)
    const settled = await Promise.all(answers)
    const claim = await claimOf(first, payment)
    expect(settled.map((one) => one.ok && one.value.claim)).toEqual([claim, claim])
    expect(settled.filter((one) => one.ok && one.value.replayed).length).toBe(1)
    expect([...first.workbench.begun, ...second.workbench.begun]).toEqual([`${ONCE} ok`])
    expect(await outcomesPosted([first, second], payment)).toEqual([OUTCOME_DELIVERED])
  })
})

describe('a replica whose receipt comes second', () => {
  it('loses only its fee, and the call is settled once', async () => {
    const { first, second, payment, answer } = await atWork(ONCE)
    first.workbench.release()
    await answer
    // After its start the second replica also owes the receipt.
    await second.till.resume()
    expect((await outcomesPosted([first, second], payment)).length).toBe(2)
    await first.mineWaiting()
    expect(first.closure(payment)).toMatchObject({ how: 'delivered' })
    const closure = first.closure(payment)
    await second.mineWaiting(3)
    expect(second.closure(payment)).toEqual(closure)
    expect(second.waitingEntries).toEqual([])
  })
})
