import { expect, test } from 'vitest'
import { Workshop } from '../../../../marketplace/till/workshop.ts'

const workshop = (): Workshop => new Workshop({ onHeadChange: () => () => {} }, Date)

/** Fills all slots for services with this time limit with endless work. Returns how many slots there are. */
async function fill(shop: Workshop, timeoutMs: number, reach: { reachesOut?: true } = {}): Promise<number> {
  let begun = 0
  const work = (): Promise<never> => {
    begun += 1
    return new Promise(() => {})
  }
  for (let i = 0; i < 1_000; i++) void shop.inPlace({ timeoutMs, ...reach }, work)
  await new Promise(setImmediate)
  return begun
}

test.each([
  [60_000, 10_000],
  [60_000, 2_000],
  [10_000, 2_000],
])('services that may take %i ms hold up none that may take %i ms', async (slowMs, quickMs) => {
  const shop = workshop()
  const begun = await fill(shop, slowMs)
  expect([begun > 0, begun < 100]).toEqual([true, true])
  expect(await shop.inPlace({ timeoutMs: quickMs }, async () => 'done')).toBe('done')
})

test('nor the other way round', async () => {
  const shop = workshop()
  await fill(shop, 2_000)
  expect(await shop.inPlace({ timeoutMs: 60_000 }, async () => 'done')).toBe('done')
})

test('services that go where strangers want hold up none that asks those whom the operator chose', async () => {
  const shop = workshop()
  await fill(shop, 10_000, { reachesOut: true })
  expect(await shop.inPlace({ timeoutMs: 10_000 }, async () => 'done')).toBe('done')
})
