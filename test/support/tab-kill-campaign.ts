import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { systemTimers } from '../../src/daemon/runtime.ts'
import { LevelTabStore } from '../../src/storage/level-tabs.ts'
import { PostgresClaims } from '../../src/storage/postgres-claims.ts'
import { postgresPlace } from '../../src/storage/postgres-place.ts'
import { seeded } from '../sim/miners.ts'
import { runsIn } from './caller.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { hasReceipts, isBereft, moneyFaults, receiptFaults, type TabHistory, tabHistories } from './tab-kill-audit.ts'
import { KillNetwork } from './tab-kill-network.ts'
import { SETTLERS } from './tab-kill-order.ts'
import { KillPayer, type TabEnd } from './tab-kill-payer.ts'
import { SellerSlot } from './tab-kill-slot.ts'

/** Numbers of the wallets that pay one seller, and of those that pay two. */
const PAYERS = [1, 5, 6]
const MORE_PAYERS = [...PAYERS, 7, 8]
/** How the tabs of each payer end that are still open. */
const ENDS: readonly TabEnd[] = ['by its term', 'by the chain', 'by the seller']
/** Errors of payers whose seller has lost its store: a number is given to two receipts, and the highest voucher is not known. */
const OF_LOSS: ReadonlySet<string> = new Set(['unverified', 'tab_ceiling_low'])
const SETTLE_TRIES = 20
const TERM = 1_200
/** Blocks before its end in which a tab is claimed whatever it is worth. */
const LAST_CLAIMS = 150
const BLOCKS_AT_ONCE = 20

/** One seller that is killed again and again, and its payers. */
export interface CampaignOptions {
  readonly seed: number
  readonly kills: number
  /** Whether the LevelDB is lost now and then. What a tab had then cannot be checked as strictly. */
  readonly losesStore: boolean
  /** The PostgreSQL that two replicas share; null for one seller with LevelDB. */
  readonly shared: { readonly url: string; readonly leaseMs: number } | null
}

/** What a campaign did, and what was wrong. */
export interface CampaignReport {
  readonly deaths: ReadonlyMap<string, number>
  readonly kills: number
  readonly faults: readonly string[]
  readonly tabs: number
  readonly bereft: number
  readonly calls: number
  readonly receipts: number
  readonly claims: number
  readonly repeated: number
  readonly forgotten: number
  readonly stopped: number
}

/** Kills a seller, or two in turns, so many times in all, then lets all tabs end, and looks whether every number adds up. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const folder = temporaryFolder()
  const campaign = new Campaign(options, folder, await KillNetwork.open(seeded(options.seed)))
  try {
    await campaign.kill()
    await campaign.endTabs()
    return await campaign.report()
  } finally {
    await campaign.close()
    removeFolder(folder)
  }
}

class Campaign {
  readonly #options: CampaignOptions
  readonly #folder: string
  readonly #network: KillNetwork
  readonly #slots: readonly SellerSlot[]
  readonly #payers: readonly KillPayer[]

  constructor(options: CampaignOptions, folder: string, network: KillNetwork) {
    const { seed, shared, losesStore } = options
    this.#options = options
    this.#folder = folder
    this.#network = network
    const settlers = shared === null ? SETTLERS.slice(0, 1) : SETTLERS
    this.#slots = settlers.map((settler, i) => {
      const place = { folder: this.#home(i), settler, losesStore, random: seeded(seed + 100 + i) }
      return new SellerSlot(network, { ...place, shared: shared && { ...shared, home: `home-${i}` } })
    })
    const payers = shared === null ? PAYERS : MORE_PAYERS
    this.#payers = payers.map((number) => new KillPayer(network, number, { folder, random: seeded(seed + number) }))
  }

  async kill(): Promise<void> {
    const { kills } = this.#options
    const died = (): number => this.#slots.reduce((sum, slot) => sum + slot.kills, 0)
    const isOver = (): boolean => died() >= kills
    const lives = this.#slots.map(async (slot) => {
      while (!isOver()) await slot.live()
    })
    await Promise.all([...lives, ...this.#payers.map((payer) => payer.live(isOver))])
  }

  /** Lets the sellers live, gets every answer, and ends tabs in all ways that there are. */
  async endTabs(): Promise<void> {
    for (const slot of this.#slots) await slot.start()
    for (const payer of this.#payers) await this.#settle(payer)
    for (const [i, payer] of this.#payers.entries()) await payer.endTabs(ENDS[i % ENDS.length] as TabEnd)
    await this.#mineSlowly(TERM - LAST_CLAIMS)
    await this.#verify()
    for (const slot of this.#slots) await slot.stop()
    await this.#network.mine(LAST_CLAIMS + 1)
  }

  async report(): Promise<CampaignReport> {
    const network = this.#network
    const tabs = [...tabHistories(network).values()]
    const faults = [...new Set(network.violations), ...moneyFaults(network, tabs)]
    for (const slot of this.#slots) faults.push(...slot.failures)
    faults.push(...(await this.#receipts(tabs)), ...this.#works(tabs), ...this.#payersFaults(tabs))
    const deaths = new Map<string, number>()
    for (const slot of this.#slots)
      for (const [step, count] of slot.deaths) deaths.set(step, (deaths.get(step) ?? 0) + count)
    const told = this.#payers.map((payer) => payer.told)
    return {
      ...{ deaths, faults, tabs: tabs.length, kills: this.#slots.reduce((sum, slot) => sum + slot.kills, 0) },
      bereft: tabs.filter((tab) => isBereft(network, tab)).length,
      calls: told.reduce((sum, { answered }) => sum + answered, 0),
      receipts: tabs.reduce((sum, { receipts }) => sum + receipts, 0),
      claims: tabs.reduce((sum, { claims }) => sum + claims.length, 0),
      repeated: network.repeated,
      forgotten: told.reduce((sum, { forgotten }) => sum + forgotten, 0),
      stopped: this.#payers.reduce((sum, { stopped }) => sum + stopped.size, 0),
    }
  }

  async close(): Promise<void> {
    for (const slot of this.#slots) await slot.stop()
    await this.#network.close()
  }

  #home(slot: number): string {
    return join(this.#folder, `seller-${slot}`)
  }

  async #settle(payer: KillPayer): Promise<void> {
    for (let left = SETTLE_TRIES; left > 0; left--) {
      await payer.settle()
      const tabs = await payer.tabs()
      if (tabs.every(({ isUsable, unanswered }) => !isUsable || unanswered.length === 0)) return
      await pause(100)
    }
    this.#network.violations.push(`payer ${payer.number} gets no answer to some calls`)
  }

  /** Gives sellers the time to claim. */
  async #mineSlowly(blocks: number): Promise<void> {
    for (let mined = 0; mined < blocks; mined += BLOCKS_AT_ONCE) {
      await this.#network.mine(BLOCKS_AT_ONCE)
      await this.#network.followed()
    }
  }

  /** The payers check what they have. One that lost its notes may lack receipts of tabs that ended before it could ask for them. */
  async #verify(): Promise<void> {
    const tabs = tabHistories(this.#network)
    for (const payer of this.#payers) {
      for (const tab of await payer.tabs()) {
        const history = tabs.get(tab.tabId)
        if (history === undefined || isBereft(this.#network, { ...history, endedAt: Number.POSITIVE_INFINITY }))
          continue
        const { failed, evidence } = await tab.verifyReceipts()
        const allowed = payer.told.forgotten === 0 ? [] : ['complete']
        if (evidence !== null || failed.some((check) => !allowed.includes(check)))
          this.#network.violations.push(`payer ${payer.number}, ${tab.tabId}: ${failed} ${JSON.stringify(evidence)}`)
      }
    }
  }

  async #receipts(tabs: readonly TabHistory[]): Promise<readonly string[]> {
    const store = await this.#store()
    const seen = [...this.#network.seen.values()]
    const faults: string[] = []
    for (const tab of tabs.filter((one) => hasReceipts(this.#network, one)))
      faults.push(
        ...(await receiptFaults(
          store,
          tab,
          seen.filter(({ tabId }) => tabId === tab.tabId),
        )),
      )
    await store.close()
    return faults
  }

  async #store(): Promise<TabStore & { close(): Promise<void> }> {
    const { shared } = this.#options
    if (shared === null) return LevelTabStore.open(join(this.#home(0), 'tabs'))
    const place = postgresPlace(shared.url)
    if (!place.ok) throw new Error(place.fault.code)
    const { leaseMs } = shared
    const options = { place: place.value, network: 'test', home: 'audit', leaseMs, timers: systemTimers }
    return (await PostgresClaims.open(options)).tabs()
  }

  /** Work that must not be done twice was not, and no call was delivered under two numbers. */
  #works(tabs: readonly TabHistory[]): readonly string[] {
    const bereft = new Set(tabs.filter((tab) => isBereft(this.#network, tab)).map(({ tabId }) => tabId))
    const delivered = new Map<string, Set<string>>()
    const lost = new Set<string>()
    for (const { tabId, seq, request, receipt } of this.#network.seen.values()) {
      if (bereft.has(tabId)) lost.add(request)
      else if (receipt.outcome === 0)
        delivered.set(request, (delivered.get(request) ?? new Set()).add(`${tabId}:${seq}`))
    }
    const faults = [...delivered].flatMap(([request, calls]) =>
      calls.size === 1 ? [] : [`${request} was delivered as ${[...calls]}`],
    )
    const runs = new Map<string, number>()
    for (const [i] of this.#slots.entries())
      for (const [work, count] of runsIn(join(this.#home(i), 'runs'))) runs.set(work, (runs.get(work) ?? 0) + count)
    const isFree = this.#network.losses.length === 0
    for (const [work, count] of runs) {
      const [serviceId, request = ''] = work.split(' ')
      const isKnown = isFree || (delivered.has(request) && !lost.has(request))
      if (serviceId === 'node-test-once' && count > 1 && isKnown) faults.push(`${work} was done ${count} times`)
    }
    return faults
  }

  /** Payers stop a tab, or find two receipts of one number, only where the seller lost receipts. */
  #payersFaults(tabs: readonly TabHistory[]): readonly string[] {
    const bereft = new Set<string>(tabs.filter((tab) => isBereft(this.#network, tab)).map(({ tabId }) => tabId))
    return this.#payers.flatMap(({ stopped, faults }) => [
      ...[...stopped].flatMap(([tabId, reason]) => (bereft.has(tabId) ? [] : [`${tabId} was stopped: ${reason}`])),
      ...faults.flatMap(({ tabId, code, text }) => (bereft.has(tabId ?? '') && OF_LOSS.has(code) ? [] : [text])),
    ])
  }
}

/** A report in one line. */
export function campaignText(seed: number, report: CampaignReport): string {
  const { deaths, faults: _, ...counts } = report
  const steps = [...deaths].sort(([a], [b]) => (a < b ? -1 : 1)).map(([step, count]) => `${step} ${count}`)
  const numbers = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  return `seed ${seed}: ${numbers.join(', ')}; deaths: ${steps.join(', ')}`
}
