import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Settled } from '../../marketplace/till/rail.ts'
import type { TabPaidCall } from '../../marketplace/till/rails/tab/tab-call.ts'
import type { AnsweredTabRow, TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { type Death, FragileTabs } from '../support/fragile-claims.ts'
import { AGAIN, closeMarkets, ONCE } from '../support/market.ts'
import { runs } from '../support/runs.ts'
import { closeTabShops, TabShop, type TestTab } from '../support/tabs.ts'

afterEach(async () => {
  await closeTabShops()
  await closeMarkets()
})

type Step = { readonly is: 'call'; readonly tab: number; readonly service: string; readonly fails: boolean } | Again
type Again = { readonly is: 'again'; readonly which: number }
/** Steps of one life of the process, which run side by side, and the write at which it dies. */
interface Life {
  readonly steps: readonly Step[]
  readonly death: Death
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('call' as const),
      tab: fc.nat(1),
      service: fc.constantFrom(AGAIN, ONCE),
      fails: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('again' as const), which: fc.nat(20) }) },
)
const life: fc.Arbitrary<Life> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  death: fc.record({
    when: fc.constantFrom('before' as const, 'after' as const),
    write: fc.integer({ min: 1, max: 30 }),
  }),
})

/** The seller, its clients, and all that they were told. */
class Walk {
  readonly #shop: TabShop
  readonly #tabs: readonly TestTab[]
  readonly #calls: TabPaidCall[] = []
  readonly #told = new Map<TabPaidCall, string>()
  #store: FragileTabs

  constructor(shop: TabShop, tabs: readonly TestTab[]) {
    this.#shop = shop
    this.#tabs = tabs
    this.#store = shop.store as FragileTabs
  }

  async live({ steps, death }: Life): Promise<void> {
    await this.#restart((store) => new FragileTabs(store, death))
    const work = Promise.all(steps.map((one) => this.#take(one)))
    await Promise.race([work, this.#store.died])
  }

  /** Clients ask again until each has an answer, and compare what they have. */
  async end(): Promise<void> {
    await this.#restart((store) => new FragileTabs(store))
    for (const call of this.#calls) await this.#ask(call)
    expect(this.#told.size).toBe(this.#calls.length)
    for (const tab of this.#tabs) await this.#audit(tab)
    const once = this.#shop.market.workbench.begun.filter((work) => work.startsWith(ONCE))
    expect(new Set(once).size).toBe(once.length)
  }

  async #restart(wrap: (store: TabStore) => FragileTabs): Promise<void> {
    this.#store.bury()
    await this.#shop.restart((store) => (this.#store = wrap(store)))
  }

  #take(one: Step): Promise<void> {
    if (one.is === 'again') {
      const known = this.#calls[one.which % Math.max(1, this.#calls.length)]
      return known === undefined ? Promise.resolve() : this.#ask(known)
    }
    const request = `${one.fails ? 'fail' : 'ok'}:${this.#calls.length}`
    const call = this.#shop.order(this.#tabs[one.tab] as TestTab, request, { serviceId: one.service })
    this.#calls.push(call)
    return this.#ask(call)
  }

  async #ask(call: TabPaidCall): Promise<void> {
    const outcome = await this.#shop.till.settle(call)
    if (!outcome.ok)
      return expect(['market/claims-away', 'tabcall/under-way', 'service/unavailable']).toContain(outcome.fault.code)
    const answer = textOf(outcome)
    expect(this.#told.get(call) ?? answer).toBe(answer)
    this.#told.set(call, answer)
  }

  async #audit({ tabId, ceiling }: TestTab): Promise<void> {
    const receipts = await this.#shop.rail.receiptsFrom(tabId, 1, 1_000)
    let sum = 0n
    for (const [i, { receipt }] of receipts.entries()) {
      sum += receipt.charged
      expect([receipt.n, receipt.cumulative]).toEqual([i + 1, sum])
    }
    const own = this.#calls.filter(({ payment }) => payment.tabId === tabId)
    expect(receipts.map(({ receipt }) => receipt.seq).sort((a, b) => a - b)).toEqual(own.map((_, i) => i + 1))
    expect(sum).toBeLessThanOrEqual(ceiling)
    const state = await this.#shop.rail.stateOf(tabId)
    if (receipts.length > 0) expect(state).toMatchObject({ charged: sum, receipts: receipts.length })
    expect(this.#shop.level.peek(tabId)?.reserved ?? 0n).toBe(0n)
  }
}

function textOf(outcome: Result<Settled<AnsweredTabRow>>): string {
  if (!outcome.ok) return outcome.fault.code
  const { receipt, result, reason } = outcome.value.claim
  return JSON.stringify({ receipt, result, reason }, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
}

test('no call is charged twice or answered in two ways, and receipts have no holes, wherever the process dies', async () => {
  const one = async (lives: readonly Life[]): Promise<void> => {
    const shop = await TabShop.open({ wrapTabs: (store) => new FragileTabs(store) })
    const walk = new Walk(shop, [await shop.openTab({}, 1), await shop.openTab({}, 6)])
    for (const each of lives) await walk.live(each)
    await walk.end()
    await closeTabShops()
    await closeMarkets()
  }
  await fc.assert(fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), one), { numRuns: runs(40) })
})
