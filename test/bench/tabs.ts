import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Level } from 'level'
import type { TabPaidCall } from '../../marketplace/till/rails/tab/tab-call.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import { callRowText, tabRowText } from '../../src/storage/tab-json.ts'
import { AGAIN, closeMarkets } from '../support/market.ts'
import { removeFolder, temporaryFolder } from '../support/processes.ts'
import { closeTabShops, TabShop, type TestTab } from '../support/tabs.ts'
import { units } from '../support/unsigned.ts'
import { type BenchRow, factRow, ratioRow, valueRow } from './report.ts'

const TABS = 8
const IN_FLIGHT = 64
const CALLS = 12_000
const WARM_UP = 2_000
/** At the price of a hundredth of a cent, all calls together stay below what may be risked on deposits of this depth. */
const PRICE_MICROS = 100n
const DEPTH = 6

interface Groups {
  count: number
  calls: number
}

/** Calls on tabs, as fast as the rail and LevelDB answer them, beside a loop that only writes what they write. */
export async function benchTabs(): Promise<readonly BenchRow[]> {
  const groups: Groups = { count: 0, calls: 0 }
  const shop = await TabShop.open({
    prices: { [AGAIN]: PRICE_MICROS },
    wrapTabs: (store) => counting(store, groups),
    rail: { clock: systemClock, timers: systemTimers },
  })
  const tabs = await openTabs(shop)
  const calls = Array.from({ length: WARM_UP + CALLS }, (_, i) => shop.order(tabs[i % TABS] as TestTab, `ok:${i}`))
  await settleAll(shop, calls.slice(0, WARM_UP))
  Object.assign(groups, { count: 0, calls: 0 })
  const { perSecond, cpuMicros, sortedMs } = await settleAll(shop, calls.slice(WARM_UP))
  const size = Math.max(1, Math.round(groups.calls / groups.count))
  const bare = await bareLoop(shop, tabs[0] as TestTab, size)
  await closeTabShops()
  await closeMarkets()
  const what = `calls on ${TABS} tabs, ${IN_FLIGHT} in flight, LevelDB`
  const at = (part: number): string => (sortedMs[Math.floor(sortedMs.length * part)] as number).toFixed(1)
  return [
    valueRow(what, perSecond, 'calls/s', { least: 1_500 }),
    ratioRow(`${what}, beside bare groups of ${size}`, `${Math.round(bare)} calls/s bare`, perSecond / bare, 0.6),
    valueRow('CPU of the process for a call on a tab', cpuMicros, 'µs', { most: 250 }),
    factRow('answer of a call on a tab', `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`),
  ]
}

function counting(store: TabStore, groups: Groups): TabStore {
  const { commit } = store
  return Object.assign(store, {
    commit: (...[ended, seal]: Parameters<TabStore['commit']>) => {
      groups.count += 1
      groups.calls += ended.length
      return commit.call(store, ended, seal)
    },
  })
}

async function openTabs(shop: TabShop): Promise<readonly TestTab[]> {
  const tabs: TestTab[] = []
  for (let i = 0; i < TABS; i++) tabs.push(await shop.opening({ deposit: units(1_000_000_000) }))
  await shop.market.mine(tabs.map(({ opening }) => opening))
  for (let i = 1; i < DEPTH; i++) await shop.market.mine()
  return tabs
}

async function settleAll(shop: TabShop, calls: readonly TabPaidCall[]) {
  const left = calls.values()
  const sortedMs: number[] = []
  const worker = async (): Promise<void> => {
    for (const call of left) {
      const beganMs = performance.now()
      const outcome = await shop.till.settle(call)
      if (!outcome.ok) throw new Error(JSON.stringify(outcome.fault))
      sortedMs.push(performance.now() - beganMs)
    }
  }
  const began = performance.now()
  const cpu = process.cpuUsage()
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  const { user, system } = process.cpuUsage(cpu)
  const perSecond = calls.length / ((performance.now() - began) / 1_000)
  return { perSecond, cpuMicros: (user + system) / calls.length, sortedMs: sortedMs.sort((a, b) => a - b) }
}

/** Calls per second if only the batches of the same size are written, one synced after the other. */
async function bareLoop(shop: TabShop, { tabId }: TestTab, size: number): Promise<number> {
  const [call, tab] = [await shop.level.call(tabId, 1), await shop.level.tab(tabId)]
  if (call === undefined || tab === undefined) throw new Error('no call was written')
  const folder = temporaryFolder()
  const database = new Level<string, string>(join(folder, 'bare'))
  await database.open()
  const [row, text] = [callRowText(call), tabRowText(tab)]
  const began = performance.now()
  let written = 0
  for (; written < CALLS; written += size) {
    const batch = Array.from({ length: size }, () => randomBytes(32).toString('hex')).flatMap((id) => [
      { type: 'put' as const, key: `call/${id}`, value: row },
      { type: 'put' as const, key: `text/${id}`, value: '{"echo":"ok:1000"}' },
      { type: 'put' as const, key: `result/${id}`, value: '18 1' },
      { type: 'put' as const, key: `receipt/${id}`, value: '1000' },
    ])
    for (let i = 0; i < Math.min(size, TABS); i++) batch.push({ type: 'put', key: `tab/${i}`, value: text })
    await database.batch(batch, { sync: true } as never)
  }
  const perSecond = written / ((performance.now() - began) / 1_000)
  await database.close()
  removeFolder(folder)
  return perSecond
}
