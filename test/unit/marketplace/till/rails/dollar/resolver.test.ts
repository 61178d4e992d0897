import { expect, it } from 'vitest'
import type { DollarClaimStore, DollarIn } from '../../../../../../marketplace/till/rails/dollar/claim.ts'
import type { FacilitatorPool } from '../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { Resolver } from '../../../../../../marketplace/till/rails/dollar/resolver.ts'
import type { Settlement } from '../../../../../../marketplace/till/rails/dollar/settlement.ts'
import { TestTime } from '../../../../../support/market-parts.ts'

const MINUTE_MS = 60_000
const VALID_MS = 12 * MINUTE_MS

it('a settlement that stays unknown is asked about ever more rarely, and as soon as it has run out', async () => {
  const time = new TestTime()
  const untilMs = time.now() + VALID_MS
  const claim = { id: 'a', payer: 'p', state: 'settling' } as DollarIn<'settling'>
  const askedMs: number[] = []
  const resolver = new Resolver({
    store: { get: async () => claim } as unknown as DollarClaimStore,
    settlement: {
      attempt: async () => {
        askedMs.push(time.now())
        return 'open'
      },
      leftMs: () => Math.max(0, untilMs - time.now()),
    } as unknown as Settlement,
    facilitators: { after: () => null } as unknown as FacilitatorPool,
    timers: time,
    onStep: () => {},
    onError: (error) => {
      throw error
    },
  })
  resolver.take(claim, null)
  while (time.now() < untilMs + MINUTE_MS) {
    await new Promise((resolve) => setImmediate(resolve))
    time.pass(500)
  }
  await resolver.stop()
  const [before, after] = [askedMs.filter((ms) => ms < untilMs), askedMs.filter((ms) => ms >= untilMs)]
  expect(before.length).toBeLessThanOrEqual(20)
  expect(before.filter((ms) => ms <= untilMs - VALID_MS + MINUTE_MS).length).toBeGreaterThanOrEqual(6)
  expect((after[0] as number) - untilMs).toBeLessThanOrEqual(1_000)
})
