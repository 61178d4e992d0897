import { afterEach, describe, expect, it } from 'vitest'
import type { Block } from '../../../consensus/block/block.ts'
import { createInlineVerifier, type SignatureVerifier } from '../../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { blocksFrom, outcomeOf } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket, type TestPayment } from '../../support/market.ts'
import { behind } from '../../support/mempool.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'
import { units } from '../../support/unsigned.ts'

afterEach(closeMarkets)

/** A market that crashed with `count` calls begun, and their payments. */
async function crashed(count: number, serviceId: string): Promise<{ dead: TestMarket; payments: TestPayment[] }> {
  const dead = await TestMarket.open()
  const payments: TestPayment[] = []
  for (let i = 0; i < count; i++) payments.push(await dead.order(`ok:${i}`, { serviceId }))
  await dead.mine(payments.map(({ tx }) => tx))
  dead.workbench.hold()
  for (const payment of payments) void dead.settle(payment)
  await dead.quiet()
  return { dead, payments }
}

/** States of claims. */
function statesOf(market: TestMarket, payments: readonly TestPayment[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(payments.map(async ({ txId }) => (await market.store.get(txId))?.state))
}

/** How often a value is in a list. */
function countOf(list: readonly unknown[], one: unknown): number {
  return list.filter((each) => each === one).length
}

describe('taking up what a crash interrupted', () => {
  it('does not wait for the work, and does at most sixteen at once, each once', async () => {
    const { dead, payments } = await crashed(40, AGAIN)
    const market = await dead.restart()
    market.workbench.hold()
    await market.till.resume()
    await market.quiet()
    expect([market.workbench.begun.length, market.till.runningCount]).toEqual([16, 40])
    market.workbench.release(3)
    await market.quiet()
    expect([market.workbench.begun.length, market.till.runningCount]).toEqual([19, 37])
    market.workbench.release()
    await market.quiet()
    expect(market.till.runningCount).toBe(0)
    expect([...market.workbench.begun].sort()).toEqual(payments.map(({ request }) => `${AGAIN} ${request}`).sort())
    expect(await statesOf(market, payments)).toEqual(payments.map(() => 'delivered'))
    expect(market.settler.owedCount).toBe(40)
  })

  it('also serves new calls, after the work that waits', async () => {
    const { dead } = await crashed(16, AGAIN)
    const market = await dead.restart()
    market.workbench.hold()
    await market.till.resume()
    const payment = await market.pay('ok:new')
    const answer = market.settle(payment)
    await market.quiet()
    expect(market.workbench.begun.length).toBe(16)
    market.workbench.release()
    expect(await answer).toMatchObject({
      ok: true,
      value: { claim: { state: 'delivered', result: '{"echo":"ok:new"}' } },
    })
  })

  it('does not repeat work that must not be repeated, but refunds it', async () => {
    const { dead, payments } = await crashed(20, ONCE)
    // Four calls had not begun: they waited for their turn.
    expect(countOf(await statesOf(dead, payments), 'claimed')).toBe(4)
    const market = await dead.restart()
    await market.till.resume()
    await market.quiet()
    const states = await statesOf(market, payments)
    expect([countOf(states, 'failed'), countOf(states, 'delivered')]).toEqual([16, 4])
    expect(market.workbench.begun.length).toBe(4)
    const caller = wallet(1).address
    const before = market.test.balance(caller)
    await market.pass(500)
    await market.mineWaiting()
    expect(
      countOf(
        payments.map((payment) => market.closure(payment)?.how),
        'failed',
      ),
    ).toBe(16)
    expect(
      countOf(
        payments.map((payment) => market.closure(payment)?.how),
        'delivered',
      ),
    ).toBe(4)
    expect(market.test.balance(caller)).toBe(before + 16n * market.priceOf(ONCE))
  })

  it('lets a repeat of an interrupted call wait for its work', async () => {
    const { dead, payments } = await crashed(1, AGAIN)
    const market = await dead.restart()
    market.workbench.hold()
    await market.till.resume()
    const repeat = market.settle(payments[0]!)
    await market.quiet()
    market.workbench.release()
    expect(await repeat).toMatchObject({ ok: true, value: { replayed: true, claim: { result: '{"echo":"ok:0"}' } } })
    expect(market.workbench.begun).toEqual([`${AGAIN} ok:0`])
  })

  it('leaves what is settled alone', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy('ok')
    await market.pass(500)
    await market.mineWaiting()
    for (let i = 0; i < 41; i++) await market.mine()
    const next = await market.restart()
    await next.till.resume()
    await next.quiet()
    expect([next.settler.owedCount, next.till.runningCount, next.workbench.begun]).toEqual([0, 0, []])
    expect(await next.store.get(payment.txId)).toMatchObject({ state: 'delivered', settlement: 'final' })
  })
})

describe('an interrupted call whose deadline is near', () => {
  /** How many blocks before the deadline work may begin at the latest: its time limit, and forty for the receipt. */
  const LAST_CHANCE = 10 + 40

  for (const [blocks, end, begun] of [
    [LAST_CHANCE, 'delivered', 1],
    [LAST_CHANCE - 1, 'failed', 0],
    [1, 'failed', 0],
  ] as const) {
    it(`is ${end} when ${blocks} blocks are left`, async () => {
      const { dead, payments } = await crashed(1, AGAIN)
      const [payment] = payments as [TestPayment]
      const { deadline } = dead.escrow(payment)!
      await dead.test.mineTo(deadline - blocks)
      const market = await dead.restart()
      await market.till.resume()
      await market.quiet()
      expect(await market.store.get(payment.txId)).toMatchObject({
        state: end,
        ...(end === 'failed' ? { reason: 'service/too-late' } : {}),
      })
      expect(market.workbench.begun.length).toBe(begun)
      await market.pass(500)
      // The last block before the deadline may have the receipt. At the deadline consensus refunds without one.
      if (blocks === 1) return
      await market.mineWaiting()
      expect(market.closure(payment)).toMatchObject({ how: end })
    })
  }

  it('does no work if consensus has refunded it already', async () => {
    const { dead, payments } = await crashed(1, AGAIN)
    const [payment] = payments as [TestPayment]
    await dead.test.mineTo(dead.escrow(payment)!.deadline)
    expect(dead.closure(payment)).toMatchObject({ how: 'expired' })
    const market = await dead.restart()
    await market.till.resume()
    await market.pass(500)
    expect(await market.store.get(payment.txId)).toMatchObject({ state: 'failed', reason: 'service/too-late' })
    expect([market.workbench.begun, market.waitingEntries]).toEqual([[], []])
  })

  it('is judged when its turn comes, not when the node starts', async () => {
    const { dead, payments } = await crashed(17, AGAIN)
    const { deadline } = dead.escrow(payments[0]!)!
    await dead.test.mineTo(deadline - LAST_CHANCE)
    const market = await dead.restart()
    market.workbench.hold()
    await market.till.resume()
    await market.quiet()
    await market.mine()
    market.workbench.release()
    await market.quiet()
    const states = await statesOf(market, payments)
    expect([countOf(states, 'delivered'), countOf(states, 'failed')]).toEqual([16, 1])
    expect(market.workbench.begun.length).toBe(16)
  })
})

describe('an interrupted call of a service that is no longer sold', () => {
  for (const serviceId of [AGAIN, ONCE]) {
    it(`is refunded (${serviceId})`, async () => {
      const { dead, payments } = await crashed(1, serviceId)
      const others = TEST_SERVICES.filter((definition) => definition.serviceId !== serviceId)
      const market = await dead.restart({ services: others })
      await market.till.resume()
      await market.quiet()
      expect(await market.store.get(payments[0]!.txId)).toMatchObject({
        state: 'failed',
        reason: 'service/interrupted',
      })
      await market.pass(500)
      await market.mineWaiting()
      expect(market.closure(payments[0]!)).toMatchObject({ how: 'failed' })
      expect(market.workbench.begun).toEqual([])
    })
  }

  it('is refunded if the service now reads requests differently', async () => {
    const { dead, payments } = await crashed(1, AGAIN)
    const shorter = TEST_SERVICES.map((definition) => ({ ...definition, requestCharsMax: 3 }))
    const market = await dead.restart({ services: shorter })
    await market.till.resume()
    await market.quiet()
    expect(await market.store.get(payments[0]!.txId)).toMatchObject({ state: 'failed', reason: 'service/interrupted' })
  })
})

it('a call whose payment a reorganisation unmines begins when it is mined again', async () => {
  const market = await TestMarket.open()
  await market.mine()
  const payment = await market.order('ok')
  const rival = await behind(market.test, 0)
  const forkHeight = rival.height
  await market.mine([payment.tx])
  // The reorganisation happens between the claim and the work.
  let release = (): void => {}
  const claim = market.store.claim.bind(market.store)
  const claimed = new Promise<void>((reached) => {
    market.store.claim = async (wanted) => {
      const known = await claim(wanted)
      reached()
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return known
    }
  })
  const answer = market.settle(payment)
  await claimed
  const other = { extra: new Uint8Array(32).fill(7) }
  for (let i = 0; i < 2; i++) await rival.mine([], other)
  for (const block of blocksFrom(rival, forkHeight + 1)) {
    market.test.nowMs = Math.max(market.test.nowMs, block.header.timeMs)
    await market.test.import(block)
  }
  expect(market.mempool.get(payment.txId)).toBeDefined()
  await market.quiet()
  release()
  expect(await answer).toMatchObject({ ok: false, fault: { code: 'pay/unconfirmed' } })
  expect(market.workbench.begun).toEqual([])
  await market.mineWaiting()
  await market.quiet()
  expect(market.workbench.begun.length).toBe(1)
  expect(await market.settle(payment)).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
})

it('no work is done for a payment on a passing head', async () => {
  const inner = createInlineVerifier(NATIVE_BACKEND)
  let release: (() => void) | undefined
  let holding = false
  const verifier: SignatureVerifier = {
    verify: async (jobs) => {
      if (!holding) return inner.verify(jobs)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return jobs.map(() => false)
    },
  }
  const test = await TestChain.open(undefined, undefined, { verifier })
  const market = await TestMarket.open({ test, settings: { settleWaitMs: 0 } })
  const rival = await behind(test, 0)
  const forkHeight = rival.height
  await market.mine()
  const payment = await market.order('ok')
  await rival.mine([payment.tx])
  const payload = { to: wallet(3).address, amount: units(5_000), create: false }
  await rival.mine([await rival.tx(wallet(4), 'transfer', payload)])
  const [first, second] = blocksFrom(rival, forkHeight + 1) as [Block, Block]
  test.nowMs = rival.nowMs
  test.chain.verified.add(payment.tx.wtxId)
  expect(await outcomeOf(test, first)).toBe('side')
  holding = true
  const importing = outcomeOf(test, second)
  while (release === undefined) await new Promise((resolve) => setImmediate(resolve))
  expect([test.chain.moving, test.chain.head.id]).toEqual([true, first.id])
  expect(await market.settle(payment)).toMatchObject({ ok: false, fault: { code: 'pay/unconfirmed' } })
  expect(market.workbench.begun).toEqual([])
  release()
  expect(await importing).toMatchObject({ code: 'block/transaction' })
  expect(test.chain.database.location(payment.txId)).toBeUndefined()
  expect(await market.settle(payment)).toMatchObject({ ok: false, fault: { code: 'pay/not-found' } })
})
