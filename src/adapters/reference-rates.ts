import type { ProviderChoice } from '../../config/outside-settings.ts'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import type { CurrencyRates, ReferenceRates } from '../../marketplace/ports/providers.ts'
import type { Readiness } from '../../marketplace/ports/readiness.ts'
import { ecb, type RateDependencies, type RateProvider } from './providers/ecb.ts'
import { frankfurter } from './providers/frankfurter.ts'
import type { Checkable, ProviderCheck, ProviderFacts } from './providers/provider.ts'
import { ProviderChain } from './providers/provider-chain.ts'

/** What exchange rates need. */
export interface ReferenceRateDependencies {
  readonly choices: readonly ProviderChoice[]
  readonly clock: Clock
  readonly timers: Timers
}

const STALE_MS = 5 * 86_400_000
/** The ECB publishes at about 16:00 in Frankfurt on working days. The rates can be read 15 minutes later. */
const PUBLISHED = { hour: 16, minute: 15, second: 0, millisecond: 0, microsecond: 0, nanosecond: 0 }
const ZONE = 'Europe/Berlin'
/** How long rates are fresh while newer ones are overdue: the day may be a holiday. */
const OVERDUE_MS = 3_600_000
const FRIDAY = 5
/** Time limit of the first query. Quotes judge currencies by its rates, before a payment. */
const FIRST_MS = 6_000

const ADAPTERS: Readonly<Record<string, (parts: RateDependencies) => RateProvider>> = { ecb, frankfurter }

/**
 * Euro reference rates of the operator's providers. Rates of the last days are served as stale while no provider
 * answers.
 */
export class ProviderRates implements CurrencyRates, Checkable {
  readonly #chain: ProviderChain<null, ReferenceRates>

  constructor({ choices, clock, timers }: ReferenceRateDependencies) {
    const providers = choices.map(({ name, url }) => {
      const adapter = ADAPTERS[name]
      if (adapter === undefined) throw new Error(`there is no adapter for ${name}`)
      return adapter({ url, clock })
    })
    const bounds = { freshMs: freshFor, staleMs: STALE_MS }
    const words = { what: 'exchange rates', requires: ['providers.rates'], keyOf: () => '' }
    this.#chain = new ProviderChain({ ...words, providers, ...bounds, clock, timers })
  }

  readonly readiness = (): Readiness => {
    const ready = this.#chain.readiness()
    const kept = ready.available ? null : this.#chain.latest(null)
    return kept === null ? ready : { available: true, engine: kept.source.name }
  }

  readonly ask: CurrencyRates['ask'] = (query, signal) => this.#chain.ask(query, signal)

  readonly known = (): ReferenceRates | null => this.#chain.latest(null)?.value ?? null

  get facts(): readonly ProviderFacts[] {
    return this.#chain.facts
  }

  checkAll(): Promise<readonly ProviderCheck[]> {
    return this.#chain.checkAll()
  }

  async start(): Promise<void> {
    await this.#chain.start()
    if (this.#chain.facts.length > 0) await this.#chain.ask(null, AbortSignal.timeout(FIRST_MS))
  }

  stop(): void {
    this.#chain.stop()
  }
}

/** Milliseconds until the next publication. If a publication is already missing, at most {@link OVERDUE_MS}. */
export function freshFor(askedMs: number, { rateDate }: Pick<ReferenceRates, 'rateDate'>): number {
  const asked = Temporal.Instant.fromEpochMilliseconds(askedMs).toZonedDateTimeISO(ZONE)
  let next = asked.with(PUBLISHED)
  let due = next
  while (Temporal.ZonedDateTime.compare(next, asked) <= 0 || next.dayOfWeek > FRIDAY) next = next.add({ days: 1 })
  while (Temporal.ZonedDateTime.compare(due, asked) > 0 || due.dayOfWeek > FRIDAY) due = due.subtract({ days: 1 })
  const leftMs = next.epochMilliseconds - askedMs
  return rateDate >= due.toPlainDate().toString() ? leftMs : Math.min(leftMs, OVERDUE_MS)
}
