import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { type AgentClient, createClient, fileJournal } from '../../rpc/client/client.ts'
import { FarthingError } from '../../rpc/client/sdk/errors.ts'
import type { Tab } from '../../rpc/client/sdk/tabs/tab-shapes.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import type { KillNetwork } from './tab-kill-network.ts'
import { SELLER } from './tab-kill-order.ts'

const SERVICES = ['node-test-again', 'node-test-once'] as const
/** Parts of the rounds in which a payer loses its notes, starts again with them, or ends its tab. */
const FORGETS = 0.02
const RESTARTS = 0.03
const ENDS = 0.02
const AT_ONCE_MAX = 4
const DEPOSIT = '0.8'
const IDLE_MS = 5

/** Errors that a seller which comes and goes may cause. All others are reported. */
const PASSING: ReadonlySet<string> = new Set([...['interrupted', 'node_unreachable', 'tab_unconfirmed']])
/** The payer needs another tab. */
const USED_UP: ReadonlySet<string> = new Set([
  ...['tab_exhausted', 'tab_ending', 'tab_closing', 'tab_ended', 'tab_stopped', 'tab_is_closing', 'tab_unknown'],
])

/** An error that a payer did not expect, and its tab. */
export interface PayerFault {
  readonly tabId: string | null
  readonly code: string
  readonly text: string
}

/** How a tab ends: nothing is done, or a payer asks the chain or the seller. */
export type TabEnd = 'by its term' | 'by the chain' | 'by the seller'

/** A payer with the real client. It makes calls side by side, asks again where no answer came, loses its notes, and ends tabs. */
export class KillPayer {
  readonly number: number
  /** Calls that were answered, and those that failed and were not charged. */
  readonly told = { answered: 0, failed: 0, forgotten: 0, recovered: 0 }
  /** Errors that a seller which dies must not cause. */
  readonly faults: PayerFault[] = []
  /** Tabs that it stopped, with the reason. */
  readonly stopped = new Map<string, string>()
  /** Tabs on which it makes no more calls. */
  readonly #left = new Set<string>()
  readonly #network: KillNetwork
  readonly #random: () => number
  readonly #folder: string
  #notes = 0
  #calls = 0
  #client: AgentClient
  #tab: Tab | null = null
  /** Whether it still has to look for its tabs on the chain. */
  #isLost = false

  constructor(network: KillNetwork, number: number, { random, folder }: { random: () => number; folder: string }) {
    this.#network = network
    this.number = number
    this.#random = random
    this.#folder = folder
    this.#client = this.#start()
  }

  /** Acts until `isOver`. */
  async live(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (this.#network.sellers.size === 0) await pause(IDLE_MS)
      else await this.#act()
    }
  }

  /** Gets an answer for every call that has none. */
  async settle(): Promise<void> {
    await this.#remember()
    for (const tab of await this.#client.tabs()) {
      const { status } = await tab.state()
      if (status !== 'open' && status !== 'closing') continue
      const outcomes = await Promise.allSettled(tab.unanswered.map(({ quoteId }) => tab.resume(seqIn(quoteId))))
      for (const outcome of outcomes) this.#sort(outcome, tab)
    }
  }

  /** Ends the tabs that are open, or leaves them to their term. */
  async endTabs(how: TabEnd): Promise<void> {
    for (const tab of await this.#client.tabs()) {
      const { status } = await tab.state()
      if (status === 'open' && how !== 'by its term') await this.#end(tab, how === 'by the chain')
    }
  }

  /** Tabs in its notes. */
  tabs(): Promise<readonly Tab[]> {
    return this.#client.tabs()
  }

  async #act(): Promise<void> {
    const dice = this.#random()
    if (dice < FORGETS) this.#forget()
    else if (dice < FORGETS + RESTARTS) this.#restart()
    if (!(await this.#remember())) return
    const tab = await this.#usable()
    if (tab === null) return
    const again = tab.unanswered.map(({ quoteId }) => tab.resume(seqIn(quoteId)))
    const calls = Array.from({ length: 1 + Math.floor(this.#random() * AT_ONCE_MAX) }, () => this.#call(tab))
    for (const outcome of await Promise.allSettled([...again, ...calls])) this.#sort(outcome, tab)
    if (this.#tab !== null && this.#random() < ENDS) await this.#end(tab, this.#random() < 0.5)
  }

  #call(tab: Tab): Promise<unknown> {
    const serviceId = SERVICES[Math.floor(this.#random() * SERVICES.length)] as string
    const dice = this.#random()
    const mode = dice < 0.04 ? 'fail' : dice < 0.3 ? `slow:${Math.ceil(this.#random() * 20)}` : 'ok'
    return tab.call(serviceId, `${mode}:${this.number}-${this.#calls++}`)
  }

  async #end(tab: Tab, byChain: boolean): Promise<void> {
    this.#tab = null
    this.#left.add(tab.tabId)
    const [outcome] = await Promise.allSettled([tab.close({ byChain })])
    this.#sort(outcome as PromiseSettledResult<unknown>, tab)
  }

  async #usable(): Promise<Tab | null> {
    if (this.#tab?.isUsable === true) return this.#tab
    const options = { deposit: DEPOSIT, term: 1_200, closeDelay: 400 }
    const tabs = await this.#client.tabs()
    const open = tabs.find(({ tabId, isUsable }) => isUsable && !this.#left.has(tabId))
    const [outcome] = await Promise.allSettled([
      open?.ready().then(() => open) ?? this.#client.openTab(SELLER, options),
    ])
    this.#sort(outcome as PromiseSettledResult<unknown>, open ?? null)
    this.#tab = outcome?.status === 'fulfilled' ? outcome.value : null
    return this.#tab
  }

  /** The notes are gone, and all that is left is the seed of the wallet. */
  #forget(): void {
    this.#notes += 1
    this.told.forgotten += 1
    this.#isLost = true
    this.#restart()
  }

  #restart(): void {
    this.#client = this.#start()
    this.#tab = null
  }

  /** False if it has lost its notes, and did not learn yet how its tabs stand. */
  async #remember(): Promise<boolean> {
    if (!this.#isLost) return true
    const [outcome] = await Promise.allSettled([this.#client.recoverTabs({ maxUnnoted: '1000' })])
    this.#sort(outcome as PromiseSettledResult<unknown>, null)
    if (outcome?.status !== 'fulfilled') return false
    for (const { standing } of outcome.value)
      if (standing.status === 'stopped') this.stopped.set(standing.tabId, standing.reason ?? '')
    this.#isLost = false
    this.told.recovered += outcome.value.length
    return true
  }

  #sort(outcome: PromiseSettledResult<unknown>, tab: Tab | null): void {
    if (outcome.status === 'fulfilled') {
      this.told.answered += 1
      return
    }
    const { reason } = outcome
    if (!(reason instanceof FarthingError)) throw reason
    const { code, name, message } = reason
    if (USED_UP.has(code)) this.#tab = null
    if (USED_UP.has(code) && tab !== null) this.#left.add(tab.tabId)
    // The seller was away when the payer looked for its tabs.
    if (code === 'tab_unconfirmed') this.#isLost = true
    if (name === 'NotChargedError') this.told.failed += 1
    else if (code === 'tab_stopped' && tab !== null) this.stopped.set(tab.tabId, message)
    else if (!PASSING.has(code) && !USED_UP.has(code))
      this.faults.push({ tabId: tab?.tabId ?? null, code, text: `payer ${this.number}: ${name} ${code}: ${message}` })
  }

  #start(): AgentClient {
    return createClient({
      ...{ baseUrl: this.#network.url, wallet: walletFromWords(wordsOfSeed(devSeed(this.number))) },
      network: networkFacts(this.#network.test.ruleBook.params),
      journal: fileJournal(join(this.#folder, `payer-${this.number}-${this.#notes}`)),
      ...{ settleMs: this.#random() < 0.5 ? 0 : 1_500, maxPerCallCoins: '1', maxPerTabCoins: '1000' },
      ...{ maxPerTabUsd: 1_000, maxPerDayUsd: 1_000_000, maxPerDayCoins: '1000000' },
    })
  }
}

/** Number of a call in the name that the client gives it: `<tabId>:<seq>`. */
function seqIn(quoteId: string): number {
  return Number(quoteId.split(':')[1])
}
