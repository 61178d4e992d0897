import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import type { DollarCall } from '../../marketplace/till/rails/dollar/claim.ts'
import { closeRails, type Payer, PRICE, paymentOf, TestRail } from '../support/dollar.ts'
import type { Profile } from '../support/dollar-facilitator.ts'
import { AGAIN, closeMarkets, ONCE } from '../support/market.ts'
import { until } from '../support/processes.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

const CALLS = 5
const RUNS = Number(process.env.TEST_PROPERTY_RUNS ?? 12)
const profile = fc.constantFrom<Profile>('good', 'refuses', 'html', '500', 'lying', 'lost', 'pending', 'gone', 'deaf')
const call = fc.nat({ max: CALLS - 1 })

/**
 * A step: an offer of a call, perhaps several times at once; trouble at a facilitator; a crash; or a stranger's use of
 * a public authorization.
 */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constant('offer' as const), call, times: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('trouble' as const), which: fc.nat({ max: 1 }), profile }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('die' as const), call }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('front' as const), call }) },
)
const kinds = fc.array(fc.constantFrom('again', 'once', 'fails'), { minLength: CALLS, maxLength: CALLS })

interface Sold {
  readonly call: DollarCall
  readonly payer: Payer
  results: number
}

function begin(rail: TestRail, kind: string, i: number): Sold {
  const payer = rail.payer()
  const request = kind === 'fails' ? 'fail' : `ok:${i}`
  const order = rail.order(request, { payment: paymentOf(payer), serviceId: kind === 'again' ? AGAIN : ONCE })
  return { call: order, payer, results: 0 }
}

/** A stranger carries out an authorization, as anyone who has seen it may. */
function front({ token }: TestRail, { call: { payment } }: Sold): void {
  const { from, to, value, validAfter, validBefore, nonce, signature } = payment.authorization
  const said = { from, to, nonce, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
  token.transfer(said, signature)
}

async function offer(rail: TestRail, sold: Sold): Promise<void> {
  const outcome = await rail.settle(sold.call)
  if (!outcome.ok) return
  sold.results += 1
  expect(outcome.value.claim.result).toBe(JSON.stringify({ echo: sold.call.request }))
}

it('whatever goes wrong in whatever order, money and results agree in the end', async () => {
  await fc.assert(
    fc.asyncProperty(kinds, fc.array(step, { minLength: 4, maxLength: 14 }), async (which, steps) => {
      let rail = await TestRail.open({ facilitators: 2, settleWaitMs: 400 })
      const sold = which.map((kind, i) => begin(rail, kind, i))
      for (const one of steps) {
        if (one.does === 'offer')
          await Promise.all(Array.from({ length: one.times }, () => offer(rail, sold[one.call] as Sold)))
        else if (one.does === 'trouble') rail.facilitators[one.which]!.settleProfile = one.profile
        else if (one.does === 'front') front(rail, sold[one.call] as Sold)
        else {
          const dying = rail.settle((sold[one.call] as Sold).call)
          rail = await rail.restart()
          await dying.catch(() => null)
        }
      }
      for (const facilitator of rail.facilitators) facilitator.settleProfile = null
      rail = await rail.restart()
      await until('nothing is under way', async () => {
        const open = await rail.store.open()
        // A used authorization must be found and its claim settled or owed.
        const isUsed = (nonce: string): boolean => rail.token.uses.some((use) => use.nonce === nonce)
        return open.every(({ state, nonce }) => state === 'unpaid' && !isUsed(nonce))
      })
      await expectAgreement(rail, sold)
      await closeRails()
      await closeMarkets()
    }),
    { numRuns: RUNS },
  )
})

/**
 * Every payer who paid has the result or the money back. Every payer with a result has paid. The service that may not
 * be repeated never ran twice.
 */
async function expectAgreement(rail: TestRail, sold: readonly Sold[]): Promise<void> {
  const { begun } = rail.market.workbench
  const { claims } = await rail.store.recent(100, null)
  for (const {
    call: { serviceId, request, payment },
    payer,
    results,
  } of sold) {
    const { nonce } = payment.authorization
    const uses = rail.token.uses.filter((use) => use.from === payer.address && use.nonce === nonce)
    const claim = claims.find((one) => one.nonce === nonce)
    const spent = 1_000_000n - rail.token.balance(payer.address)
    expect(uses.length).toBeLessThanOrEqual(1)
    if (results > 0) expect(uses.length).toBe(1)
    if (claim?.state === 'settled') expect(spent).toBe(PRICE)
    if (claim?.state === 'owed') expect([claim.refund.status, spent]).toEqual(['paid', 0n])
    if (claim?.state === 'unpaid') expect([results, uses.length]).toEqual([0, 0])
    if (serviceId === ONCE && request !== 'fail')
      expect(begun.filter((work) => work === `${serviceId} ${request}`).length).toBeLessThanOrEqual(1)
  }
}
