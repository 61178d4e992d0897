import { expect, it } from 'vitest'
import { campaignText, runCampaign } from '../support/tab-kill-campaign.ts'
import { STEPS } from '../support/tab-kill-slot.ts'

/** Sellers that are killed side by side: while one starts, another works. */
const SELLERS = 3
const KILLS = 320
const SEED = Number(process.env.TEST_KILL_SEED ?? Date.now() % 1_000_000)

it(`${SELLERS} sellers of tabs, each killed ${KILLS} times with seed ${SEED}: each tab ends once, and every call is charged and answered once`, {
  timeout: 3_600_000,
}, async () => {
  const seeds = Array.from({ length: SELLERS }, (_, i) => SEED + 1_000 * i)
  const reports = await Promise.all(
    // One of them loses its store now and then.
    seeds.map((seed, i) => runCampaign({ seed, kills: KILLS, losesStore: i === 0, shared: null })),
  )
  for (const [i, report] of reports.entries()) console.info(campaignText(seeds[i] as number, report))
  expect(reports.map(({ faults }) => faults)).toEqual(reports.map(() => []))
  const hit = new Set(reports.flatMap(({ deaths }) => [...deaths.keys()]))
  expect(STEPS.filter((step) => !hit.has(step))).toEqual([])
  expect(reports.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThanOrEqual(SELLERS * KILLS)
})
