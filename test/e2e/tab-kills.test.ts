import { expect, it } from 'vitest'
import { campaignText, runCampaign } from '../support/tab-kill-campaign.ts'

const KILLS = 30
const SEED = Number(process.env.TEST_KILL_SEED ?? Date.now() % 1_000_000)

it(`a seller of tabs, killed ${KILLS} times with seed ${SEED}: each tab ends once, and every call is charged and answered once`, async () => {
  const report = await runCampaign({ seed: SEED, kills: KILLS, losesStore: false, shared: null })
  console.info(campaignText(SEED, report))
  expect(report.faults).toEqual([])
  expect(report.kills).toBeGreaterThanOrEqual(KILLS)
})
