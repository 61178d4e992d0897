import { afterAll, beforeAll, expect, it } from 'vitest'
import { campaignText, runCampaign } from '../../support/tab-kill-campaign.ts'
import { PostgresServer } from './postgres.ts'

const KILLS = 80
const SEED = Number(process.env.TEST_KILL_SEED ?? Date.now() % 1_000_000)
/** Short, so that a dead replica is noticed soon; long enough for a busy machine to renew it. */
const LEASE_MS = 2_000

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

it(`two replicas that sell on tabs, killed ${KILLS} times with seed ${SEED}: each tab ends once, and every call is charged and answered once`, {
  timeout: 900_000,
}, async () => {
  const shared = { url: server.url('tab_kills'), leaseMs: LEASE_MS }
  const report = await runCampaign({ seed: SEED, kills: KILLS, losesStore: false, shared })
  console.info(campaignText(SEED, report))
  expect(report.faults).toEqual([])
  expect(report.kills).toBeGreaterThanOrEqual(KILLS)
  expect(server.log).not.toContain('deadlock')
})
