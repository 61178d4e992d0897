import { afterEach, describe, expect, it } from 'vitest'
import { requestHash } from '../../consensus/tx/request-hash.ts'
import { type Claim, isFinished } from '../../marketplace/till/rails/native/claim.ts'
import { RUNS_MAX } from '../../marketplace/till/settings.ts'
import { auditState } from '../../src/cli/commands/audit.ts'
import { CheckoutWalk, type WalkCall, type WalkPayment } from '../support/checkout-walk.ts'
import { closeMarkets, ONCE } from '../support/market.ts'
import { closeStores } from '../support/partition.ts'
import { walkSeeds } from '../support/walk.ts'

const STEPS = 120
/** With the first three seeds, reorganisations remove payments for good. */
const { base, seeds } = walkSeeds([2, 6, 11, 1, 3], 5)

afterEach(async () => {
  await closeMarkets()
  await closeStores()
})

/** Checks how a call ended and what the chain records of it. */
async function expectEnded(walk: CheckoutWalk, payment: WalkPayment): Promise<void> {
  const { market } = walk
  const claim = await market.store.get(payment.txId)
  const closure = market.closure(payment)
  const runs = walk.runsOf(payment)
  expect(runs).toBeLessThanOrEqual(payment.serviceId === ONCE ? 1 : RUNS_MAX)
  if (claim === undefined) {
    expect({ runs, closure }).toEqual({ runs: 0, closure: undefined })
    return
  }
  if (claim.state === 'delivered') expect(runs).toBeGreaterThan(0)
  // A payer who committed to a request gets that request served or none.
  if (payment.lock === 'commitment') expect(claim.requestHash).toBe(requestHash(claim.serviceId, payment.request))
  if (walk.isMined(payment)) await expectClosed(walk, payment, claim)
  else {
    // A reorganisation removed the payment, and its wallet used the nonce for another transaction. So it paid for nothing.
    expect(walk.isReplaced(payment)).toBe(true)
    expect({ closure, escrow: market.escrow(payment) }).toEqual({ closure: undefined, escrow: undefined })
    expect(isFinished(claim) ? claim.settlement : 'open').not.toBe('final')
  }
}

/** A final payment is closed as its claim says, with its result, and a repeat of the call gets the same answer. */
async function expectClosed({ market }: CheckoutWalk, payment: WalkPayment, claim: Claim): Promise<void> {
  const closure = market.closure(payment)
  expect(claim).toMatchObject({ state: closure?.how, settlement: 'final' })
  expect(['delivered', 'failed']).toContain(claim.state)
  expect(closure?.resultHash).toBe(claim.state === 'delivered' ? claim.resultHash : null)
  expect(market.escrow(payment)).toBeUndefined()
  const isSame = claim.requestHash === requestHash(claim.serviceId, payment.request)
  const again = await market.settle({ ...payment, request: isSame ? payment.request : payment.otherRequest })
  expect(again).toMatchObject({ ok: true, value: { claim: { txId: payment.txId, state: claim.state } } })
}

/** A call ends unless its node died. Only an entitled caller gets an answer, which is for the request that was sent. */
function expectAnswered(walk: CheckoutWalk, { payment, change, life, ended }: WalkCall): void {
  if (life === walk.life) expect(ended).not.toBeNull()
  expect(ended).not.toBeInstanceOf(Error)
  if (ended === null || ended instanceof Error || !ended.ok) return
  if (payment.lock !== 'none') expect(['nothing', 'request']).toContain(change)
  const { claim } = ended.value
  const request = change === 'request' ? payment.otherRequest : payment.request
  expect(claim).toMatchObject({ txId: payment.txId, requestHash: requestHash(claim.serviceId, request) })
}

describe(`a native market at random from seed ${base}`, () => {
  it.each(seeds)(
    'runs nothing twice that may run once, and closes every call as its claim says: seed %i',
    async (seed) => {
      const walk = await CheckoutWalk.open(seed)
      try {
        for (let i = 0; i < STEPS; i++) await walk.step()
        await walk.rest()
        for (const payment of walk.payments) await expectEnded(walk, payment)
        for (const call of walk.calls) expectAnswered(walk, call)
        expect(await auditState(walk.market.test.chain)).toMatchObject({ sound: true })
      } catch (error) {
        console.info(walk.dice.story.join('\n'))
        throw error
      }
    },
  )
})
