import { afterEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { ClaimsAway, type SharedClaims } from '../../../marketplace/till/claim-store.ts'
import type { FinishedClaim } from '../../../marketplace/till/rails/native/claim.ts'
import { Takeover } from '../../../marketplace/till/takeover.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket } from '../../support/market.ts'

afterEach(closeMarkets)

const AWAY = new ClaimsAway(fault('market/claims-away', { reason: 'ECONNREFUSED' }))

/** A shared store whose reports the test sets. */
class Standing implements SharedClaims {
  awayBecause: string | null = null
  arrivals = 0
  lapses = 0
}

/** A market that takes up claims of other replicas, and its store's reports. */
async function watching(market: TestMarket) {
  const standing = new Standing()
  const told: string[] = []
  const takeover = new Takeover(standing, market.time, (reason) => told.push(reason))
  takeover.join(market.till)
  market.shop.closeWhile(() => takeover.heldBecause)
  takeover.start()
  return { standing, takeover, told }
}

describe('a replica whose store names new claims', () => {
  it('takes up claims that it is not already working on, and no others', async () => {
    const first = await TestMarket.open()
    const second = await first.replica()
    const { standing, takeover } = await watching(second)
    const [theirs, own] = [await first.pay('ok:1', { serviceId: AGAIN }), await first.pay('ok:2', { serviceId: ONCE })]
    first.workbench.hold()
    second.workbench.hold()
    const answers = [first.settle(theirs), second.settle(own)]
    await second.quiet()
    expect(second.workbench.begun).toEqual([`${ONCE} ok:2`])
    await second.pass(5_000)
    expect(second.workbench.begun.length).toBe(1)
    standing.arrivals += 1
    await second.pass(1_000)
    expect(second.workbench.begun).toEqual([`${ONCE} ok:2`, `${AGAIN} ok:1`])
    await second.pass(5_000)
    expect(second.workbench.begun.length).toBe(2)
    first.workbench.release()
    second.workbench.release()
    for (const answer of answers)
      expect(await answer).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
    await takeover.stop()
  })

  it('tries again later if the store goes away in between', async () => {
    const first = await TestMarket.open()
    const second = await first.replica()
    const { standing, takeover, told } = await watching(second)
    const payment = await first.pay('ok', { serviceId: AGAIN })
    first.workbench.hold()
    const answer = first.settle(payment)
    await first.quiet()
    standing.arrivals += 1
    standing.awayBecause = 'gone'
    await second.pass(3_000)
    expect(second.workbench.begun).toEqual([])
    expect(told).toEqual(['gone'])
    standing.awayBecause = null
    await second.pass(1_000)
    expect(second.workbench.begun).toEqual([`${AGAIN} ok`])
    first.workbench.release()
    await answer
    await takeover.stop()
  })
})

describe('a replica that was taken for dead', () => {
  it('sells nothing and settles nothing until it knows which claims are its own', async () => {
    const market = await TestMarket.open()
    const { standing, takeover } = await watching(market)
    await market.buy('ok')
    expect(market.settler.owedCount).toBe(1)
    standing.lapses += 1
    expect(market.shop.closedBecause).toContain('taken for dead')
    market.store.open = async () => []
    await market.pass(1_000)
    expect(market.settler.owedCount).toBe(0)
    expect(market.shop.closedBecause).toBeNull()
    await takeover.stop()
  })
})

describe('a store that goes away while a call is carried out', () => {
  it('is waited for when the work is done: it is written once it is back, and done once', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    let away = 3
    market.store.beforeAdvance = async (next) => {
      if (next.state === 'delivered' && away-- > 0) throw AWAY
    }
    const answer = market.settle(payment)
    for (let i = 0; i < 5; i++) await market.pass(250)
    expect(await answer).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
    expect(market.workbench.begun).toEqual([`${ONCE} ok`])
    expect(market.settler.owedCount).toBe(1)
  })

  it('keeps a claim that was stored although the answer was lost', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    const { store } = market
    const advance = store.advance.bind(store)
    let lost = true
    store.advance = async (from, next) => {
      const moved = await advance(from, next)
      if (!lost) return moved
      lost = false
      throw AWAY
    }
    const answer = market.settle(payment)
    for (let i = 0; i < 3; i++) await market.pass(250)
    expect(await answer).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
    expect(market.workbench.begun).toEqual([`${ONCE} ok`])
  })

  it('makes the till refuse calls, and their payments are good when it is back', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    const { store } = market
    const claim = store.claim.bind(store)
    store.claim = () => Promise.reject(AWAY)
    expect(await market.settle(payment)).toEqual({ ok: false, fault: AWAY.fault })
    expect(market.workbench.begun).toEqual([])
    store.claim = claim
    expect(await market.settle(payment)).toMatchObject({ ok: true })
  })

  it('is given up in the end, and the claim stays in the store for another replica', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    market.store.beforeAdvance = (next) => (next.state === 'delivered' ? Promise.reject(AWAY) : Promise.resolve())
    const answer = market.settle(payment)
    for (let i = 0; i < 125; i++) await market.pass(250)
    expect(await answer).toMatchObject({ ok: false, fault: { code: 'pay/unconfirmed' } })
    market.store.beforeAdvance = async () => {}
    await market.till.takeUp()
    await market.quiet()
    const claim = (await market.store.get(payment.txId)) as FinishedClaim
    expect(claim).toMatchObject({ state: 'failed', reason: 'service/interrupted' })
    expect(market.workbench.begun.length).toBe(1)
  })
})
