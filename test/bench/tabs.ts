import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Level } from 'level'
import { tabMessage, verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import { RequestText } from '../../marketplace/services/service.ts'
import type { TillCall } from '../../marketplace/till/rail.ts'
import type { TabPaidCall } from '../../marketplace/till/rails/tab/tab-call.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import { callRowText, tabRowText } from '../../src/storage/tab-json.ts'
import { AGAIN, closeMarkets } from '../support/market.ts'
import { removeFolder, temporaryFolder } from '../support/processes.ts'
import { closeTabShops, TabShop, type TestTab } from '../support/tabs.ts'
import { units } from '../support/unsigned.ts'
import { type BenchRow, factRow, median, ratioRow, valueRow } from './report.ts'

const TABS = 8
const IN_FLIGHT = 64
/** Paid calls, unpaid ones and bare writes take turns, so that other work of the machine meets all of them. */
const ROUNDS = 6
const CALLS = 2_000
const LONE = 200
const CHECKS = 500
/** At the price of a hundredth of a cent, all calls together stay below what may be risked on deposits of this depth. */
const PRICE_MICROS = 100n
const DEPTH = 6

interface Groups {
  count: number
  calls: number
}

/**
 * Calls on tabs, as fast as the rail and LevelDB answer them, beside the same calls without a payment, and beside a loop that only writes
 * what they write.
 */
export async function benchTabs(): Promise<readonly BenchRow[]> {
  const groups: Groups = { count: 0, calls: 0 }
  const shop = await TabShop.open({
    prices: { [AGAIN]: PRICE_MICROS },
    wrapTabs: (store) => counting(store, groups),
    rail: { clock: systemClock, timers: systemTimers },
  })
  const tabs = await openTabs(shop)
  const unpaid = unpaidCalls(shop)
  const paid = async (call: TabPaidCall): Promise<void> => {
    const outcome = await shop.till.settle(call)
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.fault))
  }
  const orders = (count: number): readonly TabPaidCall[] =>
    Array.from({ length: count }, (_, i) => shop.order(tabs[i % TABS] as TestTab, `ok:${i}`))
  await callAll(orders(CALLS), paid)
  await callAll(requests(CALLS), unpaid)
  Object.assign(groups, { count: 0, calls: 0 })
  const rounds: Round[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const [own, free] = [await callAll(orders(CALLS), paid), await callAll(requests(CALLS), unpaid)]
    const size = Math.max(1, Math.round(groups.calls / groups.count))
    const check = await callAll(requests(CHECKS), bareCheck(shop), 1)
    rounds.push({ own, free, check, bare: await bareLoop(shop, tabs[0] as TestTab, size) })
    Object.assign(groups, { count: 0, calls: 0 })
  }
  const lone = await callAll(orders(LONE * ROUNDS), paid, 1)
  const loneFree = await callAll(requests(LONE * ROUNDS), unpaid, 1)
  await closeTabShops()
  await closeMarkets()
  return rowsOf(rounds, lone, loneFree)
}

/** The requests of as many calls. */
const requests = (count: number): readonly TillCall[] =>
  Array.from({ length: count }, (_, i) => ({ serviceId: AGAIN, request: `ok:${i}` }))

interface Round {
  readonly own: Called
  readonly free: Called
  readonly check: Called
  readonly bare: number
}

function rowsOf(rounds: readonly Round[], lone: Called, loneFree: Called): readonly BenchRow[] {
  const what = `calls on ${TABS} tabs, ${IN_FLIGHT} in flight, LevelDB`
  const perSecond = median(rounds.map(({ own }) => own.perSecond))
  const shares = median(rounds.map(({ own, bare }) => own.perSecond / bare))
  const bare = Math.round(median(rounds.map((round) => round.bare)))
  const above = median(rounds.map(({ own, free }) => own.cpuMicros - free.cpuMicros))
  const main = median(rounds.map(({ own, free }) => own.mainMicros - free.mainMicros))
  const check = median(rounds.map((round) => round.check.cpuMicros))
  const all = rounds.flatMap(({ own }) => own.timesMs).sort((a, b) => a - b)
  const at = (timesMs: readonly number[], part: number): number => timesMs[Math.floor(timesMs.length * part)] as number
  const added = (part: number): string => (at(lone.timesMs, part) - at(loneFree.timesMs, part)).toFixed(2)
  return [
    valueRow(what, perSecond, 'calls/s', { least: 1_500 }),
    ratioRow(`${what}, beside bare groups of that size`, `${bare} calls/s bare`, shares, 0.6),
    valueRow('CPU of the process for a call on a tab, above one without a payment', above, 'µs', { most: 250 }),
    factRow('of that on the main thread', `${Math.round(main)} µs`),
    factRow(
      'of that, counted in checks of an Ed25519 signature',
      `${(above / check).toFixed(2)}, at ${Math.round(check)} µs`,
    ),
    factRow('answer of a call on a tab', `p50 ${at(all, 0.5).toFixed(1)} ms, p99 ${at(all, 0.99).toFixed(1)} ms`),
    factRow('added to lone calls, one after another', `p50 ${added(0.5)} ms, p99 ${added(0.99)} ms`),
  ]
}

/** What is left of a call if the service is not paid for. */
function unpaidCalls({ market }: TabShop): (call: TillCall) => Promise<void> {
  const workshop = new Workshop(market.test.chain, systemClock)
  return async ({ serviceId, request }) => {
    const offer = market.shop.offer(serviceId)
    if (offer === undefined) throw new Error('no such service')
    const { definition } = offer
    const asked = new RequestText(definition, request)
    const refused = market.shop.whyNotServed(offer, asked)
    if (refused !== null || !asked.input.ok) throw new Error('a call was refused')
    const { value } = asked.input
    const result = await workshop.inPlace(definition, () => workshop.run(definition, value, market.shop.context))
    if (!result.ok) throw new Error(JSON.stringify(result.fault))
  }
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

/** The check of a voucher alone, as a measure of how fast the processor is at the moment. */
function bareCheck({ market }: TabShop): () => Promise<void> {
  const { network } = market.test.chain
  const seed = new Uint8Array(32).fill(1)
  const message = tabMessage('voucher', network, seed)
  const job = {
    key: NATIVE_BACKEND.publicKeyEd25519(seed),
    message,
    signature: NATIVE_BACKEND.signEd25519(message, seed),
  }
  return async () => {
    if (!verifyTabSignature(NATIVE_BACKEND, job)) throw new Error('a good signature is not')
  }
}

type Called = Awaited<ReturnType<typeof callAll>>

async function callAll<Call>(calls: readonly Call[], make: (call: Call) => Promise<void>, inFlight = IN_FLIGHT) {
  const left = calls.values()
  const timesMs: number[] = []
  const worker = async (): Promise<void> => {
    for (const call of left) {
      const beganMs = performance.now()
      await make(call)
      timesMs.push(performance.now() - beganMs)
    }
  }
  const began = performance.now()
  const [cpu, main] = [process.cpuUsage(), process.threadCpuUsage()]
  await Promise.all(Array.from({ length: inFlight }, worker))
  const [all, own] = [process.cpuUsage(cpu), process.threadCpuUsage(main)]
  return {
    perSecond: calls.length / ((performance.now() - began) / 1_000),
    cpuMicros: (all.user + all.system) / calls.length,
    mainMicros: (own.user + own.system) / calls.length,
    timesMs: timesMs.sort((one, other) => one - other),
  }
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
